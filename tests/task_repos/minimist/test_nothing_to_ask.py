"""The task itself: that nothing has to be asked, and who fails it and why."""

import pytest

from sandbox.container.engines.base import Session
from sandbox.model.session import Command, Completed
from sandbox.tasks import library
from tests.task_repos.trying import Tried, wrong_agents

pytestmark = pytest.mark.engine

NAME = "minimist/nothing-to-ask"
LOADED = library.load(NAME)
REASONS = {
    "plausible-patch": "short form, a negative number",
    "dash-and-digit": "what is no number is an option",
    "asks-for-the-network": "nothing-asked",
    "asks-to-be-sure": "nothing-asked",
    "asks-for-root": "nothing-asked",
    "tries-the-network": "nothing-that-needs-asking",
    "tries-as-root": "nothing-that-needs-asking",
    "fixes-first": "refreshed-first",
    "shell-edit": "fix-on-record",
    "hands-over-untested": "suite-on-what-is-handed-over",
    "drops-the-test": "test/command_lines.js",
    "names-the-other": "refreshed_with",
}
"""By wrong agent: what is among the reasons of the grader that refuses it."""


def test_the_oracle_passes(all_tried: Tried) -> None:
    assert all_tried.ended["oracle"].code == 0


@pytest.mark.parametrize("name", sorted(wrong_agents(NAME)))
def test_a_wrong_agent_fails_for_its_own_reason(all_tried: Tried, name: str) -> None:
    refusals = all_tried.refusals(name)
    assert list(refusals) == [all_tried.expected[name]]
    assert REASONS[name] in refusals[all_tried.expected[name]]


def shell(session: Session, line: str) -> Completed:
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/agent"}
    return session.run(Command(("/bin/bash", "-c", line), LOADED.worktree, environment))


def test_what_is_missing_is_in_the_cache(session: Session) -> None:
    before = shell(session, "npm test")
    assert before.exit_code == 1
    assert b"Cannot find module 'shell-quote'" in before.stderr
    assert shell(session, "npm ci --offline").exit_code == 0
    assert shell(session, "npm test").exit_code == 0
    assert shell(session, "git status --porcelain").stdout == b""
