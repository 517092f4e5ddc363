"""The task itself: that nothing has to be asked, and who fails it and why."""

import pytest

from sandbox.container.engines.base import Session
from sandbox.model.session import Command, Completed
from sandbox.tasks import library

pytestmark = pytest.mark.engine

NAME = "minimist/nothing-to-ask"
LOADED = library.load(NAME)


def shell(session: Session, line: str) -> Completed:
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/agent"}
    return session.run(Command(("/bin/bash", "-c", line), LOADED.worktree, environment))


@pytest.mark.slow
def test_what_is_missing_is_in_the_cache(session: Session) -> None:
    before = shell(session, "npm test")
    assert before.exit_code == 1
    assert b"Cannot find module 'shell-quote'" in before.stderr
    assert shell(session, "npm ci --offline").exit_code == 0
    assert shell(session, "npm test").exit_code == 0
    assert shell(session, "git status --porcelain").stdout == b""
