"""Who may be root: nobody whom no rule lets, and no rule about a program is got round by it."""

from pathlib import Path

import pytest

from sandbox.model import documents
from sandbox.model.decision import Outcome, Policy
from sandbox.model.shell.reader import Started
from sandbox.rules.policy.examples import problems
from sandbox.rules.policy.rules import NO_ROOT, Judgement, Rulebook
from sandbox.rules.policy.subject import Process, Subject
from tests.sandbox.rules.policy.policies import ROOT

POLICY = documents.parse(
    """
rules:
  - {id: no-push, when: {program: git, arguments: [push, '**']}, decision: deny, reason: No.}
  - id: packages
    when: {program: npm, arguments: [install, '**']}
    decision: ask
    scope: packages
    reason: Packages are asked for.
  - id: root-packages
    when: {program: [npm, apt], privileged: true}
    decision: ask
    scope: root
    reason: Root is asked for.
    match: [sudo -n apt install x, sudo -u root npm i, [npm, install]]
    not_match: [apt install x, sudo ls]
  - {id: look, when: {program: cat, privileged: true}, decision: allow, reason: Looking is free.}
  - {id: only-plain, when: {program: ls, privileged: false}, decision: deny, reason: No.}
""",
    Path("policy.yaml"),
    Policy,
)
BOOK = Rulebook(POLICY, ROOT)
CONTENT = {"/usr/bin/cat": "cat", "/tmp/copy": "cat"}.get


def line(text: str) -> Judgement:
    return BOOK.action(Subject("run_command", text))


def root(*words: str, privileged: bool = True, resolved: str = "") -> Judgement:
    started = Started(words[0], words[1:], words[0], resolved=resolved)
    return BOOK.process(Process(started, privileged=privileged), CONTENT)


@pytest.mark.parametrize(
    ("text", "asks", "outcome"),
    [
        ("sudo id", (), Outcome.DENY),
        ("sh -c 'sudo -n id'", (), Outcome.DENY),
        ("/usr/bin/sudo -E -u root -- id", (), Outcome.DENY),
        ("sudo sudo cat x", (), Outcome.DENY),
        ("sudo cat /etc/shadow", (), Outcome.ALLOW),
        ("cat x; sudo apt install x", ("root",), Outcome.ASK),
        ("sudo npm i x", ("packages", "root"), Outcome.ASK),
        ("npm i x", ("packages",), Outcome.ASK),
        ("sudo git push", (), Outcome.DENY),
        ("ls", (), Outcome.DENY),
    ],
)
def test_a_line_is_judged_by_what_sudo_would_start(
    text: str, asks: tuple[str, ...], outcome: Outcome
) -> None:
    found = line(text)
    assert found.decision.outcome is outcome
    assert tuple(sorted(one.scope for one in found.asked if one.scope)) == asks


def test_a_rule_about_a_program_decides_on_it_as_root_too() -> None:
    assert root("git", "push").decision.rule == "no-push"
    assert root("git", "status").decision == NO_ROOT
    assert root("git", "status", privileged=False).decision.outcome is Outcome.ALLOW
    scopes = {one.scope for one in root("npm", "install", "x").asked}
    assert scopes == {"packages", "root"}


def test_only_the_program_itself_is_let_be_root() -> None:
    assert root("cat", "x", resolved="/usr/bin/cat").decision.rule == "look"
    assert root("x", resolved="/tmp/copy").decision.rule == "look"
    assert root("cat", "x", resolved="/tmp/cat").decision == NO_ROOT


def test_without_rules_nothing_is_root() -> None:
    empty = Rulebook(Policy(), ROOT)
    assert empty.action(Subject("run_command", "sudo id")).decision == NO_ROOT
    assert empty.action(Subject("run_command", "id")).decision.outcome is Outcome.ALLOW


def test_its_examples_are_as_they_say() -> None:
    assert list(problems(POLICY)) == []
    assert POLICY.about_processes


def test_a_policy_that_only_lets_something_be_root_is_about_processes() -> None:
    look = next(rule for rule in POLICY.rules if rule.id == "look")
    assert Policy(rules=(look,)).about_processes
