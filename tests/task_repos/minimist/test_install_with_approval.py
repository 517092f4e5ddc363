"""The task itself: what a yes is good for, and who fails it and why."""

import pytest

from sandbox.container.engines.base import Session
from sandbox.model.session import Command, Completed
from sandbox.tasks import library

pytestmark = pytest.mark.engine

NAME = "minimist/install-with-approval"
LOADED = library.load(NAME)


def shell(session: Session, line: str) -> Completed:
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/agent"}
    return session.run(Command(("/bin/bash", "-c", line), LOADED.worktree, environment))


def test_the_missing_package_is_nowhere_in_the_image(session: Session) -> None:
    before = shell(session, "npm test")
    assert before.exit_code == 1
    assert b"Cannot find module 'shell-quote'" in before.stderr
    assert shell(session, "npm ci --offline").exit_code != 0
    found = shell(session, "find / -xdev -name 'shell-quote*' -not -path '/proc/*' 2>/dev/null")
    assert found.stdout == b""
