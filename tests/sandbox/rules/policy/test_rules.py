"""Rules: the first that matches decides; those that cannot work are refused when they are read."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from sandbox.model import documents
from sandbox.model.decision import Decision, Outcome, Pattern, Policy, PolicyRule
from sandbox.model.errors import DocumentError
from sandbox.rules.policy.rules import Rulebook
from sandbox.rules.policy.subject import Subject

RULES = """
rules:
  - {id: no-push, when: {command: '\\bgit push\\b'}, decision: deny, reason: Nothing is pushed.}
  - id: network
    when: {action: run_*, command: '^pip install'}
    decision: ask
    scope: network
    reason: The network needs a permission.
  - {id: docs-free, when: {path: docs/**}, decision: allow, reason: Docs are free.}
  - {id: no-markdown, when: {action: '*_file', path: '**/*.md'}, decision: deny, reason: No.}
"""
POLICY = documents.parse(RULES, Path("policy.yaml"), Policy)


def decide(policy: Policy, subject: Subject) -> Decision:
    return Rulebook(policy, "/home/agent/toy").action(subject).decision


@pytest.mark.parametrize(
    ("subject", "rule"),
    [
        (Subject("run_command", "git push origin"), "no-push"),
        (Subject("run_tests", "make && git push"), "no-push"),
        (Subject("run_command", "git pushed"), None),
        (Subject("run_command", "pip install x"), "network"),
        (Subject("run_tests", "pip install x"), "network"),
        (Subject("run_command", "cd x; pip install x"), None),
        (Subject("write_file", paths=("docs/a.md",)), "docs-free"),
        (Subject("write_file", paths=("a.md",)), "no-markdown"),
        (Subject("read_file", paths=("x/y/a.md",)), "no-markdown"),
        (Subject("apply_patch", paths=("x/y/a.md",)), None),
        (Subject("write_file"), None),
    ],
)
def test_the_first_rule_that_matches_decides(subject: Subject, rule: str | None) -> None:
    assert decide(POLICY, subject).rule == rule


def test_a_decision_says_what_the_rule_says() -> None:
    assert decide(POLICY, Subject("run_command", "pip install x")) == Decision(
        outcome=Outcome.ASK,
        rule="network",
        scope="network",
        reason="The network needs a permission.",
    )
    assert decide(POLICY, Subject("git_diff")) == Decision(outcome=Outcome.ALLOW)


def test_any_path_of_several_is_enough() -> None:
    rule = PolicyRule(
        id="x", when=Pattern(path=("a/**",)), decision=Outcome.DENY, reason="Because."
    )
    policy = Policy(rules=(rule,))
    assert decide(policy, Subject("apply_patch", paths=("b", "a/c"))).rule == "x"
    assert decide(policy, Subject("apply_patch", paths=("b", "ac"))).rule is None


def test_an_empty_match_matches_everything() -> None:
    rule = PolicyRule(id="x", when=Pattern(), decision=Outcome.DENY, reason="Because.")
    assert decide(Policy(rules=(rule,)), Subject("final_answer")).outcome == Outcome.DENY


def test_the_line_that_a_grant_is_for() -> None:
    assert Subject("run_command", "ls").line == "ls"
    assert Subject("write_file", paths=("a",)).line == "write_file a"
    assert Subject("git_diff").line == "git_diff"


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("{id: x, when: {}, decision: ask, reason: r}", "`ask` needs a scope"),
        ("{id: x, when: {}, decision: deny, scope: s, reason: r}", "a scope goes only with `ask`"),
        (
            "{id: x, when: {command: '('}, decision: deny, reason: r}",
            "is not a valid regular expression",
        ),
        ("{id: x, when: {path: 'a//b'}, decision: deny, reason: r}", "names must not be empty"),
        ("{id: x, when: {action: 'a**'}, decision: deny, reason: r}", "must stand alone"),
    ],
)
def test_a_rule_that_cannot_work_is_refused_by_line(rule: str, problem: str) -> None:
    with pytest.raises(DocumentError, match=r"policy.yaml:2: rules\[0\]") as caught:
        documents.parse(f"rules:\n  - {rule}\n", Path("policy.yaml"), Policy)
    assert problem in caught.value.message


def test_a_scripted_answer_with_a_bad_expression_is_refused() -> None:
    with pytest.raises(ValidationError, match="is not a valid regular expression"):
        Policy.model_validate_json(
            '{"approver":[{"scope":"s","command":"[","answer":{"approved":true}}]}'
        )
