"""The task itself: what its image shows, what its hidden tests catch, who fails it and why."""

import pytest

from sandbox.container.engines.base import Session
from sandbox.model.session import Command, Completed
from sandbox.tasks import library

pytestmark = pytest.mark.engine

LOADED = library.load("pycparser/debug-trace")
WORKTREE = "/home/agent/pycparser"


def shell(session: Session, line: str) -> Completed:
    environment = {"PATH": "/opt/venv/bin:/usr/bin:/bin", "HOME": "/home/agent"}
    return session.run(Command(("/bin/bash", "-c", line), WORKTREE, environment))


def printed(session: Session, line: str) -> str:
    completed = shell(session, line)
    assert completed.exit_code == 0, completed
    return completed.stdout.decode()


@pytest.mark.slow
def test_the_image_holds_what_the_command_gives(session: Session) -> None:
    """The defect is in the generator and in its file alike, so nothing but the traceback tells."""
    printed(session, "cd pycparser && python3 -B _build_tables.py")
    assert printed(session, "git status --porcelain") == ""
    for line in ("make generated && git diff --quiet", "python3 -B pycparser/_build_tables.py"):
        assert shell(session, line).exit_code == 1, line


@pytest.mark.slow
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
