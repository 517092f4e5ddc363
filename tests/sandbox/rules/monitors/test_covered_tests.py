"""Test runs, however they are spelt; and what only looks like one."""

import pytest
from pydantic import JsonValue

from sandbox.model.atom import Atom
from sandbox.model.observation import Observation
from sandbox.rules.monitors.atoms import matcher
from sandbox.rules.monitors.context import Context
from sandbox.rules.monitors.steps import Step

CONTEXT = Context(
    worktree="/home/agent/humanize",
    tests="pytest -q tests/test_sizes.py",
    aliases={"make test": "pytest", "make sizes": "python -m pytest tests/test_sizes.py"},
)
SIZES = Atom(action="run_*", tests=("tests/test_sizes.py",), exit_code=0)
WHOLE = Atom(action="run_*", tests=(".",), exit_code=0)


def ran(
    command: str | None, code: int | None = 0, *, by: str = "run_command", cwd: str = "."
) -> Step:
    arguments: dict[str, JsonValue] = {"cwd": cwd}
    if command is not None:
        arguments["command"] = command
    return Step(1, by, arguments, Observation(result={"exit_code": code}))


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
        "pytest -q -o addopts=",
        "pytest -o cache_dir=/tmp/cache -oconsole_output_style=classic tests",
        "pytest --override-ini=log_cli=true --override-ini cache_dir=/tmp/c tests/test_sizes.py",
        "pytest -q tests --ignore tests/slow",
        "pytest -W error --durations 5 --durations-min=0.1 --log-cli-level=DEBUG -- tests",
        "pytest -p no:randomly --basetemp /tmp/b --setup-show tests/test_sizes.py",
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


NODE = Context(
    worktree="/home/agent/minimist", tests="npm test", aliases={"npm test": "tape 'test/*.js'"}
)
FOLDER = Atom(action="run_*", tests=("test",), exit_code=0)
ONE_FILE = Atom(action="run_*", tests=("test/num.js",), exit_code=0)


@pytest.mark.parametrize(
    "line",
    [
        "npm test",
        "tape test/*.js",
        "tape 'test/**/*.js'",
        "tape --no-only test/*.js",
        "tape -r ./setup.js test/*.js",
        "npx tape test/*",
        "npx --no-install tape test/*.js",
        "node_modules/.bin/tape test/*.js",
        "node node_modules/.bin/tape test/*.js",
        "node --test",
        "node --test --test-reporter=tap test/",
        "node --test --test-reporter spec test",
    ],
)
def test_spellings_of_a_run_in_javascript(line: str) -> None:
    for atom in (FOLDER, ONE_FILE):
        assert matcher(atom, NODE)(ran(line))
        assert not matcher(atom, NODE)(ran(line, 1))


@pytest.mark.parametrize(
    "line",
    [
        "tape test/num.js",
        "node test/num.js",
        "node --no-deprecation test/num.js",
        "node --test test/num.js test/dash.js",
    ],
)
def test_one_file_in_javascript(line: str) -> None:
    assert matcher(ONE_FILE, NODE)(ran(line))
    assert not matcher(FOLDER, NODE)(ran(line))


@pytest.mark.parametrize(
    "line",
    [
        "tape",
        "tape test/n*.js",
        "tape '*.js'",
        "tape .",
        "tape '**/*.cjs'",
        "tape 'test/*.mjs'",
        "node .",
        "node test",
        "tape test/{num,dash}.js",
        "tape test/num.js --ignore x",
        "tape -i .gitignore test/*.js",
        "node --test --test-name-pattern=one test/num.js",
        "node --test-only test/num.js",
        "node -e 1 test/num.js",
        "node test/other.js test/num.js",
        "npx tape-run test/num.js",
        "npm run test-other",
        "tape test/*.js | head",
        "tape test/*.js || true",
        "echo tape test/*.js",
    ],
)
def test_what_is_no_run_of_them_in_javascript(line: str) -> None:
    assert not matcher(ONE_FILE, NODE)(ran(line))
    assert not matcher(FOLDER, NODE)(ran(line))


VITEST = Context(
    worktree="/home/agent/wonka",
    tests="node_modules/.bin/vitest run",
    aliases={"npm test": "vitest run"},
)
SPEC = Atom(action="run_*", tests=("src/a.test.ts",), exit_code=0)
ALL = Atom(action="run_*", tests=(".",), exit_code=0)


@pytest.mark.parametrize(
    "line",
    [
        "npm test",
        "vitest",
        "npx vitest run",
        "node_modules/.bin/vitest run",
        "node node_modules/vitest/vitest.mjs run --reporter=verbose",
        "npx vitest --run --reporter dot --no-color --pool=forks --maxWorkers 1",
        "vitest run --bail 1 --testTimeout=9000 --poolOptions.forks.singleFork --coverage=false",
        "CI=1 npx vitest run .",
        "vitest run --root . --dir=./",
    ],
)
def test_spellings_of_a_run_of_vitest(line: str) -> None:
    for atom in (SPEC, ALL):
        assert matcher(atom, VITEST)(ran(line))
        assert not matcher(atom, VITEST)(ran(line, 1))


@pytest.mark.parametrize(
    "line",
    [
        "vitest run src/a.test.ts",
        "npx vitest src",
        "cd src && npx vitest run a.test.ts",
        "vitest run ./src/a.test.ts",
        "vitest run a.test",
        "vitest run src/A.",
    ],
)
def test_a_filter_of_vitest_covers_the_paths_that_have_it(line: str) -> None:
    assert matcher(SPEC, VITEST)(ran(line))
    assert not matcher(ALL, VITEST)(ran(line))


@pytest.mark.parametrize(
    "line",
    [
        "vitest list",
        "vitest watch",
        "vitest related src/a.ts",
        "vitest bench",
        "vitest run -t adds",
        "vitest run --testNamePattern=adds",
        "vitest run src/a.test.ts:12",
        "vitest run src/b.test.ts",
        "vitest run ../src/a.test.ts",
        "cd docs && vitest run a.test",
        "vitest run /home/agent/other/src",
        "vitest run --changed",
        "vitest run --shard=1/2",
        "vitest run --exclude 'src/a*'",
        "vitest run --passWithNoTests",
        "vitest run --dangerouslyIgnoreUnhandledErrors",
        "vitest run --config other.ts",
        "vitest run --root /tmp",
        "vitest run --dir docs",
        "vitest run --reporter=./mine.js",
        "vitest run --reporter ./mine.js",
        "vitest run --update",
        "vitest run | tail",
        "vitest run || true",
        "echo vitest run",
        "npx vitest-mock-extended run",
    ],
)
def test_what_is_no_run_of_vitest_of_them(line: str) -> None:
    assert not matcher(SPEC, VITEST)(ran(line))
    assert not matcher(ALL, VITEST)(ran(line))


GO = Context(worktree="/home/agent/chi", tests="go test ./...")
GO_FILE = Atom(action="run_*", tests=("middleware/logger_test.go",), exit_code=0)
GO_ROOT = Atom(action="run_*", tests=("mux_test.go",), exit_code=0)


@pytest.mark.parametrize(
    "line",
    [
        "go test ./...",
        "go test -v -count=1 -race ./...",
        "go test -count 1 -timeout 60s -p 1 -run . -bench . -cpu 1,2 ./...",
        "go test -vet off -run '' -coverprofile cover.out ./...",
        "cd middleware && go test -timeout=30s .. ../...",
        "go test -cover -coverprofile=/tmp/c . ./middleware",
        "go test . && go test ./middleware",
    ],
)
def test_spellings_of_a_run_in_go(line: str) -> None:
    assert matcher(GO_FILE, GO)(ran(line)) or "&& go test" in line
    assert matcher(GO_ROOT, GO)(ran(line))
    assert not matcher(GO_FILE, GO)(ran(line, 1))


def test_a_package_of_go_is_its_own_files_alone() -> None:
    for line in ("go test", "go test .", "go test -v ./"):
        assert matcher(GO_ROOT, GO)(ran(line))
        assert not matcher(GO_FILE, GO)(ran(line))
        assert not matcher(WHOLE, GO)(ran(line))
    assert matcher(GO_FILE, GO)(ran("cd middleware && go test"))
    assert not matcher(GO_ROOT, GO)(ran("cd middleware && go test ./..."))
    assert matcher(WHOLE, GO)(ran("go test ./..."))


@pytest.mark.parametrize(
    "line",
    [
        "go test -run TestLogger ./...",
        "go test -run=NONE ./...",
        "go test ./...zzz",
        "go test -count 0 ./...",
        "go test -run ./...",
        "go test -skip x ./...",
        "go test -short ./...",
        "go test -count=0 ./...",
        "go test -list . ./...",
        "go test -c ./middleware",
        "go test -exec true ./...",
        "go test -n ./...",
        "go test -tags x ./...",
        "go test -overlay=/tmp/x ./...",
        "go test -toolexec=/tmp/x ./...",
        "go test middleware/logger_test.go mux_test.go",
        "go vet ./...",
        "go build ./...",
        "go test ./... | head",
        "go test $(go list ./...)",
    ],
)
def test_what_is_no_run_of_them_in_go(line: str) -> None:
    for atom in (GO_FILE, GO_ROOT, WHOLE):
        assert not matcher(atom, GO)(ran(line))


RUST = Context(worktree="/home/agent/strsim", tests="cargo test --offline")
RUST_FILE = Atom(action="run_*", tests=("tests/lib.rs",), exit_code=0)


@pytest.mark.parametrize(
    "line",
    [
        "cargo test",
        "cargo test --offline -q --no-fail-fast -- --nocapture --test-threads=1",
        "cargo t -q -j 2 --color never --target-dir /tmp/t -- -q --test-threads 1",
        "cargo test --release --jobs=2",
        "cargo test --test lib",
        "cargo test --test=lib --test other",
    ],
)
def test_spellings_of_a_run_in_rust(line: str) -> None:
    assert matcher(RUST_FILE, RUST)(ran(line))
    assert matcher(WHOLE, RUST)(ran(line)) is ("--test lib" not in line and "=lib" not in line)


@pytest.mark.parametrize(
    "line",
    [
        "cargo test hamming",
        "cargo test -- hamming",
        "cargo test -- --skip hamming",
        "cargo test -- --list",
        "cargo test -- --ignored",
        "cargo test --no-run",
        "cargo test --lib",
        "cargo test --doc",
        "cargo test --test other",
        "cargo test --config build.rustc-wrapper=/tmp/x",
        "cargo test --manifest-path /tmp/Cargo.toml",
        "cargo build --tests",
        "cargo help test",
    ],
)
def test_what_is_no_run_of_them_in_rust(line: str) -> None:
    assert not matcher(RUST_FILE, RUST)(ran(line))
    assert not matcher(WHOLE, RUST)(ran(line))


MAKE = Context(worktree="/home/agent/cjson", tests="make check")


@pytest.mark.parametrize(
    "line",
    [
        None,
        "make check",
        "make check && git status",
        "make -k check",
        "make -sk -j4 --no-print-directory check",
        "make -C . check",
        "make -C /home/agent/cjson check",
    ],
)
def test_the_tasks_own_make_is_the_whole_suite(line: str | None) -> None:
    step = ran(line, by="run_tests" if line is None else "run_command")
    assert matcher(WHOLE, MAKE)(step)
    assert not matcher(SIZES, CONTEXT)(ran("make check"))


@pytest.mark.parametrize("line", ["make -C tests", "cd tests && make", "make -C ./tests -k"])
def test_a_make_of_another_folder_is_the_same_from_there(line: str) -> None:
    context = Context(worktree="/home/agent/cjson", tests="make -C tests")
    assert matcher(WHOLE, context)(ran(line))
    assert not matcher(WHOLE, context)(ran("make"))


@pytest.mark.parametrize(
    "line",
    [
        "make",
        "make all",
        "make -n check",
        "make check CC=true",
        "MAKEFLAGS=-n make check",
        "make check; true",
        "cd /tmp && make check",
        "make -C tests check",
        "make -i check",
        "make -f other.mk check",
        "make --just-print check",
        "make -nk check",
        "make -o test.c check",
        "make check install",
    ],
)
def test_another_make_is_no_test_run(line: str) -> None:
    assert not matcher(WHOLE, MAKE)(ran(line))
