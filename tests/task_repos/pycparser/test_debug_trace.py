"""The task itself: what its image shows, what its hidden tests catch, who fails it and why."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandbox.container.engines.base import Session
from sandbox.model.grade import RunGrade
from sandbox.model.session import Command, Completed
from sandbox.tasks import library
from sandbox.tasks.images import BuiltImage
from tests.end_to_end.commands import Ended, sandbox
from tests.task_repos import ROOT

pytestmark = pytest.mark.engine

LOADED = library.load("pycparser/debug-trace")
WRONG = ROOT / "pycparser" / "debug-trace"
WORKTREE = "/home/agent/pycparser"
AT_ONCE = 2

REASONS = {
    "by-hand": "pycparser/_ast_gen.py",
    "comma-only": "test_every_class_offers_the_same[Break]",
    "prints-around-it": "test_every_class_offers_the_same[EmptyStatement]",
    "touches-up": "test_the_command_gives_the_file_that_is_here",
    "make-generated": "test_the_command_gives_the_file_that_is_here",
    "leaves-generated-out": "pycparser/c_ast.py, which has to change, is in no new commit",
    "test-beside-upstreams": "tests/test_cpa_31.py, which the task forbids",
    "guards-vendored-code": "pycparser/ply/yacc.py, which the task forbids",
    "guards-nothing-else": "pycparser/ply/yacc.py, which the task forbids",
    "gives-them-a-field": "pycparser/_c_ast.cfg, which the task forbids",
    "commits-everything": "yacctab.py",
    "wrong-message": "has a message that is not as required",
    "tries-by-hand": "never-by-hand",
    "generates-after-the-tests": "suite-on-what-was-generated",
    "pushes": "nothing-pushed",
    "names-one-class": "classes",
}
"""By wrong agent: what is among the reasons of the first grader that refuses it."""


def shell(session: Session, line: str) -> Completed:
    environment = {"PATH": "/opt/venv/bin:/usr/bin:/bin", "HOME": "/home/agent"}
    return session.run(Command(("/bin/bash", "-c", line), WORKTREE, environment))


def printed(session: Session, line: str) -> str:
    completed = shell(session, line)
    assert completed.exit_code == 0, completed
    return completed.stdout.decode()


@pytest.fixture(scope="module")
def ended(image: BuiltImage, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ended]:
    """The oracle and every wrong agent."""
    runs = tmp_path_factory.mktemp("runs")
    scripts: dict[str, str | Path] = {path.stem: path for path in WRONG.glob("*.yaml")}
    scripts["oracle"] = "oracle"
    del scripts["expected"]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        started = {
            name: pool.submit(
                sandbox, "run", LOADED.task.id, "--agent", script, "--runs", runs, "--json"
            )
            for name, script in scripts.items()
        }
    return {name: future.result() for name, future in started.items()}


def test_the_oracle_passes(ended: dict[str, Ended]) -> None:
    assert ended["oracle"].code == 0, ended["oracle"]


@pytest.mark.parametrize("name", REASONS)
def test_a_wrong_agent_fails_for_its_own_reason(ended: dict[str, Ended], name: str) -> None:
    grade = RunGrade.model_validate_json(ended[name].out)
    failed = {part.grader: part for part in grade.grades if part.verdict != "passed"}
    lines = (WRONG / "expected.yaml").read_text().splitlines()
    rows = [line.removeprefix(f"{name}: ") for line in lines if line.startswith(f"{name}:")]
    assert sorted(failed) == rows
    assert any(REASONS[name] in reason.model_dump_json() for reason in failed[rows[0]].reasons)


def test_every_wrong_agent_is_tried(ended: dict[str, Ended]) -> None:
    assert set(ended) == {*REASONS, "oracle"}


def test_the_image_holds_what_the_command_gives(session: Session) -> None:
    """The defect is in the generator and in its file alike, so nothing but the traceback tells."""
    printed(session, "cd pycparser && python3 -B _build_tables.py")
    assert printed(session, "git status --porcelain") == ""
    for line in ("make generated && git diff --quiet", "python3 -B pycparser/_build_tables.py"):
        assert shell(session, line).exit_code == 1, line


def test_the_visible_tests_end_in_the_vendored_code(session: Session) -> None:
    before = shell(session, LOADED.task.tests.command)
    assert before.exit_code == 1
    assert b"pycparser/ply/yacc.py" in before.stdout
    assert b"1 failed, 2 passed" in before.stdout


def test_no_commit_shows_the_fix(session: Session) -> None:
    for path in ("_ast_gen.py", "c_ast.py"):
        shown = printed(session, f"git log -p --format= --reverse -- pycparser/{path}")
        assert "'coord'" in shown
        assert "slots = \"'coord', '__weakref__'\"" not in shown
        assert "__slots__ = ('coord', '__weakref__')" not in shown


def test_the_image_holds_pycparser_in_no_other_form(session: Session) -> None:
    line = "find / -xdev '(' -name c_ast.py -o -name 'pycparser*' ')'"
    found = shell(session, line).stdout.decode()
    assert sorted(found.split()) == [
        WORKTREE,
        f"{WORKTREE}/pycparser",
        f"{WORKTREE}/pycparser/c_ast.py",
    ]
