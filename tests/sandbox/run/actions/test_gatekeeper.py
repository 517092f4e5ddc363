"""Held processes: which run, which are refused, what is told of it."""

import errno
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from sandbox.container.engines.base import Session
from sandbox.model.agent_environment import ENVIRONMENT
from sandbox.model.decision import Answer, Question
from sandbox.model.observation import ErrorCode, Observation
from sandbox.model.session import Exec, ExecEnd, ExecOutcome
from sandbox.rules.policy.grants import Grants
from sandbox.run.actions.gatekeeper import Gatekeeper
from sandbox.run.actions.identities import Identities
from tests.sandbox.local_session import LocalSession
from tests.sandbox.rules.policy.policies import rule, rulebook, rules

SESSION = cast(Session, LocalSession())
ASK = rule("{program: npm, arguments: [install, '**']}", "ask")
DENY = rule("{program: git, arguments: [push, '**']}", "deny", "no-push")
DONE = Observation(result={"exit_code": 0})


class Held:
    """A gatekeeper, its grants, and processes to hold."""

    def __init__(self, ask: Callable[[Question, str], object] | None = None) -> None:
        self.grants = Grants()
        self.keeper = Gatekeeper(SESSION, rules(ASK, DENY), self.grants, ask)
        self.keeper.begin("1", "run_command", ())
        self.number = 0
        self.run("bash", "-c", "x", pid=100, parent=1, first=True)

    def exec(
        self, *argv: str, pid: int = 101, parent: int = 100, tag: str = "1", first: bool = False
    ) -> Exec:
        self.number += 1
        words = tuple(word.encode() for word in argv)
        return Exec(
            self.number, tag, words[0], b"/nowhere/" + words[0], words, len(words),
            truncated=False, cwd=b"/", pid=pid, parent=parent, uid=10001, held=True, first=first,
        )  # fmt: skip

    def run(self, *argv: str, pid: int = 101, parent: int = 100, first: bool = False) -> int:
        return self.keeper.decide(self.exec(*argv, pid=pid, parent=parent, first=first)).answer

    def grant(self, command: str, *, approved: bool = True) -> None:
        self.grants.record(
            Question(scope="network", command=command), Answer(approved=approved, reason="R"), 7
        )


def test_what_no_rule_speaks_of_runs() -> None:
    held = Held()
    assert held.keeper.decide(held.exec("ls")).decision is None
    assert held.run("ls") == 0
    assert held.keeper.finish("1", DONE) == DONE


def test_a_denied_process_is_refused_and_the_result_stays() -> None:
    held = Held()
    assert held.run("make", pid=102) == 0
    assert held.run("git", "push", "x", pid=103, parent=102) == errno.EACCES
    told = held.keeper.finish("1", DONE)
    assert (told.status, told.error_code, told.result) == (
        "error",
        ErrorCode.POLICY_DENIED,
        DONE.result,
    )
    assert "'git push x', started by make, bash, was not run" in (told.message or "")
    assert held.keeper.finish("1", DONE) == DONE


def test_an_error_of_the_action_itself_stays() -> None:
    held = Held()
    held.run("git", "push")
    late = Observation(status="error", error_code=ErrorCode.TIMEOUT, message="Killed.")
    told = held.keeper.finish("1", late)
    assert told.error_code is ErrorCode.TIMEOUT
    assert (told.message or "").startswith("Killed. The program 'git push'")


def test_what_is_asked_is_refused_until_it_is_granted() -> None:
    held = Held()
    assert held.run("npm", "i", "x") == errno.EACCES
    told = held.keeper.finish("1", DONE)
    assert told.error_code is ErrorCode.APPROVAL_REQUIRED
    assert "scope 'network' and the command 'npm i x'" in (told.message or "")
    held.grant("npm i x")
    decided = held.keeper.decide(held.exec("npm", "i", "x"))
    assert (decided.answer, [one.granted_at for one in decided.used]) == (0, [7])
    assert held.run("npm", "i", "x", pid=200) == errno.EACCES


def test_a_grant_holds_for_what_the_process_becomes_and_starts() -> None:
    held = Held()
    held.grant("npm i x")
    assert held.run("npm", "i", "x", pid=102) == 0
    assert held.run("node", "/usr/bin/npm", "i", "x", pid=102) == 0
    assert held.run("npm", "install", "y", pid=103, parent=102) == 0
    assert held.run("npm", "install", "y", pid=104, parent=100) == errno.EACCES


def test_a_grant_of_the_action_holds_for_all_that_it_starts() -> None:
    held = Held()
    held.grant("npm i x; npm i y")
    grant = held.grants.use("network", "npm i x; npm i y")
    assert grant is not None
    held.keeper.begin("1", "run_command", (grant,))
    assert held.run("npm", "i", "x", pid=102) == 0
    assert held.run("npm", "i", "y", pid=103) == 0
    assert held.keeper.decide(held.exec("npm", "i", "y", tag="2")).refused


def test_a_denied_request_is_told_as_that() -> None:
    held = Held()
    held.grant("npm i x", approved=False)
    assert held.run("npm", "i", "x") == errno.EACCES
    assert held.keeper.finish("1", DONE).error_code is ErrorCode.APPROVAL_DENIED


def test_who_can_be_asked_at_once_is_asked_while_it_is_held() -> None:
    asked: list[Question] = []

    def ask(question: Question, tag: str) -> None:
        asked.append(question)
        held.grants.record(question, Answer(approved="x" in question.command), 9)

    held = Held(ask)
    assert held.run("npm", "i", "x") == 0
    assert held.run("npm", "i", "y", pid=102) == errno.EACCES
    assert held.run("npm", "i", "y", pid=102) == errno.EACCES
    assert held.run("git", "push", pid=103) == errno.EACCES
    assert [(one.command, one.started_by) for one in asked] == [
        ("npm i x", ("bash",)),
        ("npm i y", ("bash",)),
    ]
    assert all(re.fullmatch(r"runs /\S*npm\nin /\S*", one.effect) for one in asked)


def test_the_harness_shell_is_not_the_agents() -> None:
    keeper = Gatekeeper(SESSION, rules(rule("{program: bash}")), Grants())
    held = Held()
    keeper.begin("1", "run_command", ())
    assert keeper.decide(held.exec("bash", first=True)).answer == 0
    assert keeper.decide(held.exec("bash")).answer == errno.EACCES


def test_too_many_arguments_to_be_looked_at_are_refused_where_they_could_match() -> None:
    held = Held()

    def cut(*argv: str) -> int:
        seen = held.exec(*argv)
        values = {name: getattr(seen, name) for name in Exec.__slots__} | {"truncated": True}
        return held.keeper.decide(Exec(**values)).answer

    assert cut("git", "-c", "a=b", "-c", "x") == errno.EACCES
    assert cut("git", "push", "x", "y") == errno.EACCES
    assert cut("git", "add", "x", "y") == 0
    assert cut("ls", "push", "x") == 0


def test_a_script_is_what_its_first_line_starts(tmp_path: Path) -> None:
    held = Held()
    seen = held.exec("x", "y")

    def script(text: str) -> int:
        file = tmp_path / "script"
        file.write_text(text)
        values = {name: getattr(seen, name) for name in Exec.__slots__}
        values |= {"program": b"./script", "resolved": bytes(file)}
        return held.keeper.decide(Exec(**values)).answer

    assert script("#!/usr/bin/git push\n") == errno.EACCES
    assert script("#! /usr/bin/env  git push\n") == 0
    assert script("#!/usr/bin/git status\n") == 0
    assert script("#!/bin/sh\ngit push\n") == 0
    assert script("git push\n") == 0


def test_an_ended_process_passes_nothing_on() -> None:
    held = Held()
    held.grant("npm i x")
    npm = held.exec("npm", "i", "x", pid=102)
    assert not held.keeper.decide(npm).refused
    held.keeper.ended(npm, ExecEnd(ExecOutcome.EXITED, 0, None, 0.1))
    assert held.run("npm", "i", "y", pid=103, parent=102) == errno.EACCES


# Content


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Identities:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").write_text("#!/bin/sh\necho git\n")
    if os.getuid() == 0:
        os.chown(folder / "git", 1, 1)
    (folder / "npm").symlink_to("git")
    (folder / "hub").write_text("#!/bin/sh\necho hub\n")
    (folder / "ls").write_text("#!/bin/sh\necho ls\n")
    monkeypatch.setitem(ENVIRONMENT, "PATH", str(folder))
    found = Identities(SESSION)
    found.learn(lambda name: name in ("git", "hub"))
    return found


def test_a_file_is_known_by_its_content(known: Identities, tmp_path: Path) -> None:
    git = tmp_path / "bin" / "git"
    shutil.copy(git, tmp_path / "copy")
    (tmp_path / "link").symlink_to(git)
    (tmp_path / "hard").hardlink_to(git)
    for name in ("copy", "link", "hard", "bin/npm"):
        assert known.identify(str(tmp_path / name)) == "git"
    assert known.identify(str(tmp_path / "bin" / "hub")) == "hub"


def test_what_is_changed_later_does_not_change_what_a_program_was(
    known: Identities, tmp_path: Path
) -> None:
    git = tmp_path / "bin" / "git"
    shutil.copy(git, tmp_path / "copy")
    git.write_text("#!/bin/sh\necho gut\n")
    assert known.identify(str(tmp_path / "copy")) == "git"


def test_other_files_are_nothing(known: Identities, tmp_path: Path) -> None:
    (tmp_path / "alike").write_text("#!/bin/sh\necho gib\n")
    (tmp_path / "empty").write_text("")
    for name in ("alike", "empty", "missing", "bin", "bin/ls"):
        assert known.identify(str(tmp_path / name)) is None


def test_a_rulebook_knows_of_which_programs_it_speaks() -> None:
    book = rulebook("rules:\n" + DENY + rule("{program: [pip3, 'np*', '*']}", "deny", "b"))
    assert all(map(book.knows, ("git", "git-push", "pip", "pip3.11", "npm", "python3", "busybox")))
    assert not any(map(book.knows, ("ls", "make", "curl")))
    network = rules(rule("{network: true}"))
    assert all(map(network.knows, ("curl", "git", "npm")))
    assert not network.knows("ls")
