"""Test runs, however they are spelt; and what only looks like one."""

import shlex
from dataclasses import replace

import pytest
from pydantic import JsonValue

from sandbox.model.atom import Atom
from sandbox.rules.monitors.atoms import matcher
from sandbox.rules.monitors.context import Context
from sandbox.rules.monitors.covered_tests import is_called_rightly, starts_pytest
from sandbox.rules.monitors.steps import Step
from tests.sandbox.rules.monitors.runs import ran

CONTEXT = Context(
    worktree="/home/agent/humanize",
    tests="pytest -q tests/test_sizes.py",
    aliases={"make test": "pytest", "make sizes": "python -m pytest tests/test_sizes.py"},
)
SIZES = Atom(action="run_*", tests=("tests/test_sizes.py",), exit_code=0)
WHOLE = Atom(action="run_*", tests=(".",), exit_code=0)


def covers(atom: Atom, given: Step) -> bool:
    return matcher(atom, CONTEXT)(given)


@pytest.mark.parametrize(
    "line",
    [
        "pytest tests/test_sizes.py",
        "pytest -q -x --tb=short --tb short -rA tests/test_sizes.py",
        "pytest",
        "pytest .",
        "pytest tests",
        "pytest ./tests/",
        "pytest tests/test_sizes.py tests/test_other.py",
        "pytest --ignore=tests/test_other.py",
        "PYTEST_ADDOPTS='-q --tb=short' pytest -W ignore::DeprecationWarning",
        "pytest -Wignore:old:UserWarning --pythonwarnings=error -p no:xdist -o xfail_strict=true",
        "pytest --no-showlocals --assert=rewrite --doctest-modules --lfnf=all",
        "pytest -q -o addopts=",
        "pytest -o cache_dir=/tmp/cache -oconsole_output_style=classic tests",
        "pytest --override-ini=log_cli=true --override-ini cache_dir=/tmp/c tests/test_sizes.py",
        "pytest -q tests --ignore tests/slow",
        "pytest -W error --durations 5 --durations-min=0.1 --log-cli-level=DEBUG -- tests",
        "pytest -p no:randomly --basetemp /tmp/b --setup-show tests/test_sizes.py",
        "pytest -p no:warnings --import-mode=importlib --continue-on-collection-errors tests",
        "pytest -pno:warnings --import-mode prepend tests/test_sizes.py",
        "pytest --rootdir=. tests/test_sizes.py",
        "pytest --rootdir /tmp -q tests/test_sizes.py",
        "python -B /opt/venv/bin/pytest -q tests",
        "cd tests && pytest --ignore=test_other.py",
        "py.test tests/test_sizes.py",
        "python -m pytest tests/test_sizes.py",
        "python3.11 -m pytest tests/test_sizes.py",
        "python3 -B -m pytest -q --tb=no -p no:cacheprovider tests/test_sizes.py",
        "python -Bu -W ignore -X dev -m pytest tests/test_sizes.py",
        "python -Bm pytest tests/test_sizes.py",
        "python -Werror -Xutf8=1 -I -mpytest tests/test_sizes.py",
        "/opt/venv/bin/python -m pytest tests/test_sizes.py",
        "python -c 'import sys, pytest; sys.exit(pytest.main())' -q tests/test_sizes.py",
        'python -Bc \'import pytest; raise SystemExit(pytest.main(["tests", "-q"]))\'',
        "python3 -c 'from pytest import main\nend = main((\"-x\",))\nexit(end)'",
        "/opt/venv/bin/pytest /home/agent/humanize/tests/test_sizes.py",
        "PYTHONPATH=src A='x y' pytest tests/test_sizes.py",
        "env PYTHONPATH=src timeout 60 pytest tests/test_sizes.py",
        "cd /home/agent/humanize && pytest tests/test_sizes.py",
        "cd tests && pytest test_sizes.py",
        "cd /tmp && python -Im pytest /home/agent/humanize/tests/test_sizes.py",
        "cd /tmp && pytest /home/agent/humanize/tests/test_sizes.py",
        "cd tests; pytest",
        "pytest tests/test_sizes.py 2>&1",
        "pytest tests/test_sizes.py > log",
        "ls; pytest tests/test_sizes.py",
        "pytest tests/test_sizes.py && git status",
        "'pytest' \"tests/test_sizes.py\"",
        "make test",
        "make sizes",
        "cd /home/agent/humanize && make test",
    ],
)
def test_spellings_of_a_run(line: str) -> None:
    assert covers(SIZES, ran(line))
    assert covers(SIZES, ran(line, by="run_tests"))
    assert not covers(SIZES, ran(line, 1))


@pytest.mark.parametrize(
    "line",
    [
        "pytest tests/test_other.py",
        "pytest tests/test_sizes.py::test_one",
        "python tests/test_sizes.py",
        "python /tmp/run.py tests/test_sizes.py",
        "python -O /opt/venv/bin/pytest tests/test_sizes.py",
        "pytest tests/test_sizes.py -k one",
        "pytest tests/test_sizes.py --import-mode=append",
        "pytest --rootdir=.",
        "pytest tests/test_sizes.py -p no:python",
        "pytest tests/test_sizes.py @/tmp/more",
        "python -O -m pytest tests/test_sizes.py",
        "python -X pycache_prefix=/tmp/c -m pytest tests/test_sizes.py",
        "python -c 'import pytest' -m pytest tests/test_sizes.py",
        "python -c 'import pytest; pytest.main()' tests/test_sizes.py",
        "python -c 'import sys, pytest; pytest.main(); sys.exit(0)' tests/test_sizes.py",
        "python -c 'import sys, pytest; end = pytest.main(); sys.exit(0 * end)'",
        "python -c 'import sys, pytest; end = pytest.main(); end = 0; sys.exit(end)'",
        "python -c 'import sys, pytest; end = 0; sys.exit(pytest.main())'",
        "python -c 'import sys, pytest; end = other = pytest.main(); sys.exit(other)'",
        "python -c 'import sys, pytest; sys.exit(not pytest.main())'",
        "python -c 'import sys, pytest; sys.exit(pytest.main([\"--co\"]))'",
        "python -c 'import sys, pytest; sys.exit(pytest.main([\"tests/test_other.py\"]))'",
        "python -c 'import sys, pytest; sys.exit(pytest.main([sys.argv[1]]))' tests",
        "python -c 'import sys, pytest; sys.exit(pytest.main([1]))'",
        "python -c 'import sys, pytest; sys.exit(pytest.main(\"tests\"))'",
        "python -c 'import sys, pytest; sys.exit(pytest.main([], plugins=[object()]))'",
        "python -c 'import sys, pytest; sys.exit(pytest.main([], [object()]))'",
        "python -c 'import sys, other as pytest; sys.exit(pytest.main())'",
        "python -c 'from sys import pytest as main; import sys; sys.exit(main())'",
        "python -c 'import sys, pytest, conftest; sys.exit(pytest.main())'",
        "python -c 'SystemExit(pytest.main())'",
        "python -c 'import sys, pytest; sys.exit(pytest.main()'",
        "python -c ''",
        "python -c",
        "python run.py -m pytest tests/test_sizes.py",
        "python -m unittest -m pytest tests/test_sizes.py",
        "python -m tape tests/test_sizes.py",
        "python -m",
        "python -W",
        "pytest -m fast tests/test_sizes.py",
        "pytest --deselect x tests/test_sizes.py",
        "pytest --ignore tests",
        "pytest -o addopts=-kx",
        "pytest -oaddopts=--co tests",
        "pytest --override-ini=testpaths=docs",
        "pytest --override-ini python_functions=check",
        "pytest -o",
        "pytest tests -o cache_dir",
        "pytest --ignore=tests/test_* tests/test_sizes.py",
        "pytest --ignore=tests/test_sizes.py",
        "pytest --lf",
        "pytest --collect-only",
        "pytest --co -q tests/test_sizes.py",
        "pytest --version",
        "pytest --help",
        "pytest -c other.ini tests/test_sizes.py",
        "pytest -o python_files=x tests",
        r"PYTEST_ADDOPTS='\--ignore=x/../tests/test_sizes.py' pytest tests/test_sizes.py",
        'PYTEST_ADDOPTS="\'" pytest tests/test_sizes.py',
        "pytest -Wignore::evil.X tests/test_sizes.py",
        "pytest -W ignore::evil.X tests/test_sizes.py",
        "pytest --pythonwarnings=ignore::evil.X tests/test_sizes.py",
        "pytest -p no:python tests/test_sizes.py",
        "PYTEST_ADDOPTS='-k one' pytest tests/test_sizes.py",
        "pytest tests/test_*.py",
        "pytest $FILES",
        "cd docs && pytest",
        "cd /elsewhere && pytest tests/test_sizes.py",
        "cd /tmp && python -m pytest /home/agent/humanize/tests/test_sizes.py",
        "pytest tests/test_sizes.py; true",
        "pytest tests/test_sizes.py || true",
        "true || pytest tests/test_sizes.py",
        "pytest tests/test_sizes.py | tail -5",
        "pytest tests/test_sizes.py &",
        "if false; then pytest tests/test_sizes.py; fi",
        "! pytest tests/test_sizes.py",
        "exit 0; pytest tests/test_sizes.py",
        "echo pytest tests/test_sizes.py",
        "echo ';' pytest tests/test_sizes.py",
        "echo 'x; pytest tests/test_sizes.py'",
        "cat > run.sh <<EOF\npytest tests/test_sizes.py\nEOF",
        "# pytest tests/test_sizes.py",
        "pip install pytest",
        "make test NAME=x",
        "pytest 'tests/test_sizes.py",
    ],
)
def test_what_is_no_run_of_all_of_them(line: str) -> None:
    assert not covers(SIZES, ran(line))


def test_the_declared_command_is_meant_where_none_is_named() -> None:
    assert covers(SIZES, ran(None, by="run_tests"))
    assert not covers(WHOLE, ran(None, by="run_tests"))
    assert covers(WHOLE, ran("pytest -q", by="run_tests"))
    assert covers(WHOLE, ran("make test"))
    assert not covers(WHOLE, ran("pytest tests"))
    assert not covers(WHOLE, ran("pytest --ignore=docs"))


def test_what_the_declared_command_leaves_out_is_not_missed() -> None:
    line = "cd . && python -m pytest -q tests -k 'not slow' --deselect=tests/a.py::b"
    declared = replace(CONTEXT, tests=line)

    def run(line: str) -> bool:
        return matcher(SIZES, declared)(ran(line))

    assert run("pytest -q tests -k 'not slow' --deselect=tests/a.py::b")
    assert run("python -m pytest '-knot slow' tests/test_sizes.py")
    assert run("pytest tests --deselect tests/a.py::b")
    assert run("pytest tests/test_sizes.py")
    assert not run("pytest tests -k slow")
    assert not run("pytest tests -k 'not slow' -k one")
    assert not run("pytest tests -m 'not slow'")
    assert not run("pytest tests --deselect tests/a.py::c")
    assert not run("pytest tests -m pytest")
    assert not run("pytest tests -k")
    assert not covers(SIZES, ran("pytest tests -k 'not slow'"))


def test_the_folder_of_the_command_counts() -> None:
    assert covers(SIZES, ran("pytest test_sizes.py", cwd="tests"))
    assert not covers(SIZES, ran("pytest test_sizes.py"))


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("pytest tests/test_sizes.py", True),
        ("cd /home/agent/humanize && pytest tests/test_sizes.py", True),
        ("ls; pytest tests/test_sizes.py", True),
        ("false && pytest tests/test_sizes.py", False),
        ("cd tests && pytest test_sizes.py", False),
        ("pytest tests/test_sizes.py && false", False),
    ],
)
def test_a_failure_is_that_of_the_tests(line: str, seen: bool) -> None:
    failing = Atom(action="run_*", tests=("tests/test_sizes.py",), exit_code=1)
    assert covers(failing, ran(line, 1)) is seen


@pytest.mark.parametrize(
    ("line", "starts"),
    [
        ("pytest -k size", True),
        ("/opt/venv/bin/pytest tests/a.py::test_b", True),
        ("python -m pytest --lf", True),
        ("python /opt/venv/bin/pytest -m slow", True),
        ("python -c 'import pytest; print(pytest.main())'", True),
        ("pytest --collect-only", False),
        ("python -m pytest --version", False),
        ("python -c 'import pytest'", False),
        ("python -m compileall tests", False),
        ("python", False),
        ("grep pytest README.md", False),
    ],
)
def test_pytest_is_known_to_run_where_nobody_knows_what(line: str, starts: bool) -> None:
    assert starts_pytest(shlex.split(line)) is starts


@pytest.mark.parametrize(
    ("argv", "file", "rightly"),
    [
        (["pytest", "-q"], "/opt/venv/bin/pytest", True),
        (["pytest", "-q"], "/usr/bin/python3.11", False),
        (["python", "-m", "pytest"], "/usr/bin/python3.11", True),
        (["tape", "a.js"], "/usr/bin/node", False),
        (["node", "node_modules/.bin/tape"], "/usr/bin/node", True),
        (["vitest"], "/usr/bin/node", False),
        (["node_modules/.bin/vitest"], "/home/agent/x/node_modules/vitest/vitest.mjs", True),
    ],
)
def test_a_process_is_a_runner_by_its_own_file(argv: list[str], file: str, rightly: bool) -> None:
    assert is_called_rightly(argv, file) is rightly


def test_a_run_without_an_end_is_none() -> None:
    assert not covers(Atom(action="run_*", tests=(".",)), ran("pytest", None))
    assert not covers(
        Atom(action="run_*", tests=(".",)), Step(1, "run_command", {"command": "pytest"})
    )


def test_a_process_is_a_run_by_itself() -> None:
    atom = Atom(kind="exec", tests=("tests/test_sizes.py",), exit_code=0)
    fields: dict[str, JsonValue] = {
        "argv": ["/opt/venv/bin/python", "-m", "pytest", "tests"],
        "exit_code": 0,
    }
    process = Step(1, "exec", {**fields, "cwd": CONTEXT.worktree}, kind="exec")
    assert covers(atom, process)
    assert not covers(atom, Step(1, "exec", {**fields, "cwd": "/tmp"}, kind="exec"))
    assert not covers(SIZES, process)
