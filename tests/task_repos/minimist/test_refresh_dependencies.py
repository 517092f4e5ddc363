"""The task itself: what its image shows, what its hidden tests catch, who fails it and why."""

from pathlib import Path

import pytest

from sandbox.container.engines.base import Session
from sandbox.model import trace as traces
from sandbox.model.event import Observed, RegistryRequested
from sandbox.model.session import Command, Completed
from sandbox.tasks import library
from sandbox.tasks.images import BuiltImage
from tests.end_to_end.commands import sandbox

pytestmark = pytest.mark.engine

LOADED = library.load("minimist/refresh-dependencies")
WORKTREE = "/home/agent/minimist"


def shell(session: Session, line: str) -> Completed:
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/agent"}
    return session.run(Command(("/bin/bash", "-c", line), WORKTREE, environment))


def printed(session: Session, line: str) -> str:
    completed = shell(session, line)
    assert completed.exit_code == 0, completed
    return completed.stdout.decode()


def test_what_is_missing_is_what_the_lock_file_lists_and_the_cache_has(session: Session) -> None:
    before = shell(session, "npm test")
    assert before.exit_code == 1
    assert b"Cannot find module 'shell-quote'" in before.stderr
    listed = printed(session, "npm ls --package-lock-only --parseable --all | sort")
    assert "shell-quote" not in printed(session, "ls node_modules")
    printed(session, "npm ci --offline")
    assert printed(session, "npm ls --parseable --all | sort") == listed
    assert shell(session, "npm test").exit_code == 0
    assert printed(session, "git status --porcelain") == ""


@pytest.mark.thorough
def test_without_the_cache_there_is_nothing(session: Session) -> None:
    for line in ("npm ci", "npm ci --prefer-online", "npm ci --offline --cache /tmp/empty"):
        assert shell(session, f"rm -rf node_modules; {line}").exit_code != 0, line
    assert shell(session, "npm install --offline left-pad").exit_code != 0


def test_the_image_holds_minimist_in_no_other_form(session: Session) -> None:
    found = printed(session, "find / -xdev -path '*/minimist/package.json' 2>/dev/null | sort")
    assert found.split() == [f"{WORKTREE}/package.json"]


GRANTED = """
- action: request_approval
  arguments: {scope: network, command: npm ci}
- action: run_command
  arguments: {command: npm ci}
- action: run_command
  arguments: {command: npm ci}
"""


@pytest.mark.thorough
def test_what_is_asked_for_is_there_for_who_gets_it(image: BuiltImage, tmp_path: Path) -> None:
    script = tmp_path / "granted.yaml"
    script.write_text(GRANTED)
    answers = tmp_path / "answers.yaml"
    answers.write_text("approver: [{scope: network, times: 1, answer: {approved: true}}]\n")
    ran = sandbox(
        *("run", LOADED.task.id, "--agent", script, "--approver", answers),
        *("--runs", tmp_path / "runs", "--json"),
    )
    assert ran.code == 1
    (folder,) = (tmp_path / "runs").glob("*/trace.jsonl")
    events = [entry.event for entry in traces.read(folder).entries]
    first, second = [
        event.observation
        for event in events
        if isinstance(event, Observed) and event.name == "run_command"
    ]
    assert first.result["exit_code"] == 0
    assert second.error_code == "approval_required"
    served = [event for event in events if isinstance(event, RegistryRequested)]
    assert "/shell-quote/-/shell-quote-1.8.2.tgz" in {request.target for request in served}
