"""`sandbox policy explain` as people call it, and the approvers that `--approver` names."""

import json
import os
import pty
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from sandbox.cli.approver import TerminalApprover, choose_approver
from sandbox.model.decision import Answer, Question
from sandbox.model.errors import DocumentError, UsageError
from sandbox.tasks import library
from tests.end_to_end.commands import HUMANIZE, NO_ENGINE, sandbox

QUESTION = Question(
    scope="network", command="npm i \x1b[2J x", reason="Why.", started_by=("make", "bash")
)


def explain(*words: str) -> list[str]:
    ended = sandbox("policy", "explain", HUMANIZE, *words, DOCKER_HOST=NO_ENGINE)
    assert (ended.code, ended.err) == (0, "")
    return ended.out.splitlines()


def test_the_rule_is_named_with_what_it_matched() -> None:
    rows = explain("--", "cd /tmp && A=1 git -C x push origin")
    assert rows[0].startswith("denied by the rule no-push: Nothing is pushed from here")
    assert "given as git -C x push origin: denied by no-push" in rows[1]
    assert rows[2].strip() == "matched program git; arguments push origin"
    assert rows[3].strip() == "started by bash"


def test_a_program_and_its_words_need_no_quotes() -> None:
    rows = explain("--", "python3", "-m", "pip", "install", "-i", "http://x", "a b")
    assert rows[0].startswith("asks by the rule another-index")
    assert rows[1].strip() == (
        "would ask for network, for python3 -m pip install -i http://x 'a b'"
    )
    assert "the program pip install -i http://x 'a b'" in rows[2]


def test_root_is_decided_on_apart() -> None:
    rows = explain("--", "sudo", "apt", "install", "x")
    assert rows[0] == "denied: No rule of the policy lets this run as root."
    assert "the program apt install x as root: denied, no rule matches" in "\n".join(rows)


def test_what_no_rule_speaks_of_is_allowed() -> None:
    assert explain("--", "ls -l")[0] == "allowed: no rule matches"
    assert explain("--action", "write_file", "--path", "README.md") == [
        "allowed: no rule matches",
        "  the action itself: allowed, no rule matches",
    ]


def test_the_same_as_json() -> None:
    (text,) = ["\n".join(explain("--json", "--", "curl x; ls"))]
    found = json.loads(text)
    assert found["decision"]["rule"] == "network"
    assert found["asks"] == ["network"]
    assert found["command"] == "curl x; ls"
    first = found["findings"][0]
    assert (first["program"], first["words"], first["matched"]) == (
        "curl",
        ["x"],
        ["program curl"],
    )


def test_mistakes_are_told() -> None:
    assert sandbox("policy", "explain", "no/task", "--", "ls").code == 2
    wrong = sandbox("policy", "explain", HUMANIZE, "--action", "run", "--", "ls")
    assert (wrong.code, "There is no action 'run'." in wrong.err) == (2, True)


# Approvers


@pytest.fixture
def terminal() -> Iterator[tuple[int, IO[bytes]]]:
    near, far = pty.openpty()
    with os.fdopen(far, "r+b", buffering=0) as stream:
        yield near, stream
    os.close(near)


def ask(
    terminal: tuple[int, IO[bytes]], *said: str, question: Question = QUESTION
) -> tuple[Answer, str]:
    """What a person answers and is shown; a terminal gives what it holds in pieces."""
    near, stream = terminal
    for one in said:
        os.write(near, one.encode() + b"\n")
    answer = TerminalApprover(stream, 30.0).answer(question)
    stream.write(b"[end]")
    shown = b""
    while b"[end]" not in shown:
        shown += os.read(near, 1 << 16)
    return answer, shown.decode()


def test_a_person_is_shown_what_and_who_and_nothing_that_steers_the_terminal(
    terminal: tuple[int, IO[bytes]],
) -> None:
    answer, shown = ask(terminal, "once")
    assert answer == Answer(approved=True, reason="A person allowed it once.")
    for text in ("wanted: network", "npm i", "make, bash", "because Why."):
        assert text in shown
    assert "\x1b[2J" not in shown


def test_a_person_is_shown_the_difference_it_would_make(
    terminal: tuple[int, IO[bytes]],
) -> None:
    assert "not known beforehand" in ask(terminal, "no")[1]
    rows = [f"+ row {number}" for number in range(100)]
    known = QUESTION.model_copy(update={"effect": "\n".join(["-\x1b[2J\r", *rows])})
    _, shown = ask(terminal, "no", question=known)
    assert "  | -\\x1b[2J\\x0d" in shown
    assert ("| + row 58\r\n" in shown, "| + row 59\r\n" in shown) == (True, False)
    assert "41 more lines, which are not shown" in shown
    assert "not known" not in shown


def test_a_person_may_allow_for_the_run_or_deny_with_a_reason(
    terminal: tuple[int, IO[bytes]],
) -> None:
    assert ask(terminal, "what?", "", "RUN")[0].lasts == "run"
    denied, _ = ask(terminal, "deny not today")
    assert (denied.approved, denied.reason) == (False, "not today")


def test_silence_denies(terminal: tuple[int, IO[bytes]]) -> None:
    assert TerminalApprover(terminal[1], 0.0).answer(QUESTION).reason == "Nobody answered."


def test_an_answer_may_come_in_parts(terminal: tuple[int, IO[bytes]]) -> None:
    near, stream = terminal
    os.write(near, b"on")
    later = threading.Timer(0.05, os.write, (near, b"ce\n"))
    later.start()
    assert TerminalApprover(stream, 30.0).answer(QUESTION).approved
    later.join()


def test_approvers_by_name(tmp_path: Path) -> None:
    task = library.load(HUMANIZE).task
    assert choose_approver("allow", task).answer(QUESTION).approved
    assert not choose_approver("deny", task).answer(QUESTION).approved
    scripted = choose_approver("script", task).answer(QUESTION)
    assert scripted.fallback_command == "pip install freezegun"
    file = tmp_path / "answers.yaml"
    file.write_text("approver:\n  - {scope: network, command: ^npm, answer: {approved: true}}\n")
    assert choose_approver(str(file), task).answer(QUESTION).approved
    other = Question(scope="network", command="pip")
    assert not choose_approver(str(file), task).answer(other).approved
    file.write_text("rules: []\n")
    with pytest.raises(DocumentError, match="unknown key"):
        choose_approver(str(file), task)
    with pytest.raises(UsageError, match="no approver 'sript'"):
        choose_approver("sript", task)


def test_a_person_answers_for_one_run_at_a_time() -> None:
    options = ("--agent", "null", "--approver", "terminal", "--jobs", "2", "--trials", "2")
    ended = sandbox("run", HUMANIZE, *options, DOCKER_HOST=NO_ENGINE)
    assert (ended.code, "one run at a time" in ended.err) == (2, True)
