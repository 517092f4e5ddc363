"""Whose runner it is that runs tests."""

import pytest

from sandbox.model.session import Exec
from sandbox.model.task import Scope
from sandbox.run.facts.baseline import Held, Watched
from sandbox.run.facts.runners import foreign_to
from sandbox.run.facts.worktree import Worktree

ROOT, VENV = "/home/agent/x", "/opt/venv"
TAPE = f"{ROOT}/node_modules/.bin/tape"
BASE = {
    path: Held("old", "file", executable=True, mode=0o100755)
    for path in (f"{VENV}/bin/python", f"{VENV}/bin/pytest", TAPE, f"{ROOT}/tests/test_a.py")
}
WATCHED = Watched(ROOT, (VENV, f"{ROOT}/node_modules"), ())


def foreign(line: str, program: str, resolved: str = "/usr/bin/x", cwd: str = ROOT) -> list[str]:
    worktree = Worktree(BASE, WATCHED, Scope())
    argv = tuple(line.split())
    execution = Exec(
        number=1,
        tag="1",
        program=program.encode(),
        resolved=resolved.encode(),
        arguments=tuple(word.encode() for word in argv),
        argument_count=len(argv),
        truncated=False,
        cwd=cwd.encode(),
        pid=9,
        parent=8,
        uid=10_001,
        held=False,
        first=False,
    )
    return list(foreign_to(worktree, execution, argv, worktree.moment))


PYTHON, NODE = "/usr/bin/python3.11", "/usr/bin/node"


@pytest.mark.parametrize(
    ("line", "program", "resolved", "cwd"),
    [
        ("python -m pytest", f"{VENV}/bin/python", PYTHON, ROOT),
        (f"{VENV}/bin/python -m pytest", f"{VENV}/bin/python", PYTHON, ROOT),
        ("../../../opt/venv/bin/python -m pytest", "x", PYTHON, ROOT),
        (f"python -P -m pytest {ROOT}", f"{VENV}/bin/python", PYTHON, "/tmp"),
        ("python -Bm pytest", f"{VENV}/bin/python", PYTHON, ROOT),
        ("pytest", f"{VENV}/bin/pytest", f"{VENV}/bin/pytest", ROOT),
        ("node node_modules/.bin/tape a.js", NODE, NODE, ROOT),
        ("node --test", NODE, NODE, "/tmp"),
        ("node --test test/own.test.js", NODE, NODE, ROOT),
        ("node --test-reporter tap --test test/tape", NODE, NODE, ROOT),
    ],
)
def test_the_images_own_is_not_foreign(line: str, program: str, resolved: str, cwd: str) -> None:
    assert foreign(line, program, resolved, cwd) == []


@pytest.mark.parametrize(
    ("line", "program", "resolved", "cwd", "named"),
    [
        ("/tmp/v/bin/python -m pytest", PYTHON, PYTHON, ROOT, "/tmp/v/bin/python"),
        ("python -m pytest", "/tmp/v/bin/python", PYTHON, ROOT, "/tmp/v/bin/python"),
        ("v/bin/python -Pm pytest", "v/bin/python", PYTHON, "/tmp", "/tmp/v/bin/python"),
        ("v/bin/python -m pytest", "v/bin/python", PYTHON, ROOT, "v/bin/python"),
        ("/opt/venv/v/bin/python -m pytest", "x", PYTHON, ROOT, "/opt/venv/v/bin/python"),
        ("/proc/self/cwd/python -m pytest", "x", PYTHON, ROOT, "/proc/self/cwd/python"),
        (f"python -m pytest {ROOT}", f"{VENV}/bin/python", PYTHON, "/tmp", "/tmp"),
        ("pytest", "/tmp/pytest", "/tmp/pytest", ROOT, "/tmp/pytest"),
        ("node /tmp/x/tape a.js", NODE, NODE, ROOT, "/tmp/x/tape"),
        ("node node_modules/.bin/tape a.js", NODE, NODE, "/tmp", "/tmp/node_modules/.bin/tape"),
    ],
)
def test_what_an_agent_can_have_made_is_named(
    line: str, program: str, resolved: str, cwd: str, named: str
) -> None:
    assert foreign(line, program, resolved, cwd) == [named]
