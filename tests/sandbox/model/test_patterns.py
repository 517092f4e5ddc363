"""Expressions mean what they mean in `re`, and none of them holds whoever asks."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graders import repository
from sandbox.grading.cases.answers import Raised
from sandbox.grading.cases.comparing import Expected, objection
from sandbox.model.atom import Atom, Milestone, Predicate
from sandbox.model.decision import Answer, Outcome, Policy, PolicyRule, Question, ScriptedAnswer
from sandbox.model.decision import Answers as Script
from sandbox.model.decision import Pattern as When
from sandbox.model.errors import UndecidedError
from sandbox.model.patterns import LONGEST, expression
from sandbox.model.rule import Derived, Never, Required, RuleBase
from sandbox.model.task import GitScope
from sandbox.rules.monitors.base import Breach, Monitor
from sandbox.rules.monitors.progress import Progress
from sandbox.rules.monitors.steps import Step
from sandbox.rules.policy.approvers import ScriptedApprover
from sandbox.rules.policy.rules import Rulebook
from sandbox.rules.policy.subject import Subject
from tests.graders.evidence import NEW, OLD, changes, commit, committing, git

SLOW = r"^(\w|\w\w)+$"
"""Takes twice as long for each letter more of a word that it does not match."""
WORD = "a" * 5_000 + "!"
TOLD: dict[str, Any] = {"reason": "Why.", "stated_in": "prompt"}

PATTERNS = (
    r"^git commit\b(?!.*--no-verify)",
    r"a{e}",
    r"\{a{1,2}\}",
    r"a{,2}b",
    r"[{}a]{2}",
    r"a{b}{2}",
    r"a\\{1}",
    r"\N{LATIN SMALL LETTER A}{i}",
    r"(?i)(e)|a*?$",
    r"(a)?b|\{",
)


@given(st.sampled_from(PATTERNS), st.text("ab{}ei12,\\ \n", max_size=20))
def test_an_expression_means_what_it_means_in_re(pattern: str, text: str) -> None:
    wanted = re.compile(pattern)
    found = wanted.search(text)
    assert expression(pattern).search(text) == (found[0] if found else None)
    assert expression(pattern).fullmatch(text) == (wanted.fullmatch(text) is not None)
    group = 1 if wanted.groups else 0
    assert expression(pattern).parts(text) == [one[group] or "" for one in wanted.finditer(text)]


@pytest.mark.slow
def test_a_slow_search_ends_and_is_not_tried_again() -> None:
    slow = expression(SLOW)
    for ask in (slow.search, slow.fullmatch, slow.parts):
        with pytest.raises(UndecidedError, match="takes too long"):
            ask(WORD)


def test_a_long_text_is_undecided_whatever_the_expression() -> None:
    assert expression("a").search("a" * LONGEST) == "a"
    for ask in (expression("a").search, expression("a").fullmatch, expression("a").parts):
        with pytest.raises(UndecidedError, match="too long to be compared with 'a'"):
            ask("a" * (LONGEST + 1))


def fed(rule: RuleBase) -> Breach | None:
    return Monitor(rule).feed(Step(event=1, name="run_command", arguments={"command": WORD}))


@pytest.mark.parametrize(
    "atom",
    [
        Atom(action="run_command", arguments={"command": SLOW}),
        Atom(action="run_command", where={"arguments.command": Predicate(matches=SLOW)}),
    ],
)
def test_a_rule_breaks_where_it_cannot_be_told(atom: Atom) -> None:
    for rule in (
        Never(id="never", template="never", a=atom, **TOLD),
        Required(id="required", template="required", a=atom, **TOLD),
    ):
        breach = fed(rule)
        assert breach is not None
        assert breach.event == 1
        assert repr(SLOW) in breach.message
        assert "cannot be told" in breach.message


def test_a_rule_whose_values_cannot_be_told_breaks() -> None:
    rule = Derived.model_validate(
        {
            "id": "derived",
            "template": "derived",
            "x": "x",
            "source": Atom(action="read_file", bind={"x": "result.content"}),
            "target": Atom(action="run_command", bind={"x": f"arguments.command /{SLOW}/"}),
            **TOLD,
        }
    )
    breach = fed(rule)
    assert breach is not None
    assert repr(SLOW) in breach.message


def test_what_cannot_be_told_is_no_progress() -> None:
    slow = Atom(action="run_command", arguments={"command": SLOW})
    quick = Atom(action="run_command")
    step = Step(event=1, name="run_command", arguments={"command": WORD})
    progress = Progress((Milestone(id="a", reached=slow), Milestone(id="b", reached=quick)))
    assert progress.advance(frozenset(), step) == {"b"}
    undone = Progress((Milestone(id="b", reached=quick, undone=slow),))
    assert undone.advance(frozenset({"b"}), step) == frozenset()


@pytest.mark.parametrize("outcome", list(Outcome))
def test_a_policy_allows_nothing_for_a_text_that_cannot_be_compared(outcome: Outcome) -> None:
    scope = "s" if outcome is Outcome.ASK else None
    rule = PolicyRule(
        id="slow", when=When(command=SLOW), decision=outcome, scope=scope, reason="Why."
    )
    judgement = Rulebook(Policy(rules=(rule,)), "/w").action(Subject("run_command", WORD))
    assert judgement.decision.rule == (None if outcome is Outcome.ALLOW else "slow")
    assert outcome is Outcome.ALLOW or repr(SLOW) in judgement.findings[0].fields[0]


def test_a_script_approves_nothing_that_cannot_be_compared() -> None:
    question = Question(scope="s", command=WORD)
    for approved in (True, False):
        answer = Answer(approved=approved, reason="Scripted.")
        script = Script(approver=(ScriptedAnswer(scope="s", command=SLOW, answer=answer),))
        given = ScriptedApprover(script).answer(question)
        assert not given.approved
        assert (given.reason == "Scripted.") is not approved


def test_a_message_that_cannot_be_compared_is_not_as_required() -> None:
    answer = Raised(type="ValueError", message=WORD)
    said = objection(answer, Expected(raises="ValueError", message=SLOW))
    assert said.endswith("takes too long")
    made = changes(
        after=git(refs={"refs/heads/main": NEW, "refs/tags/v1": OLD}),
        commits=(commit(message=WORD),),
    )
    rule = GitScope(commits="allowed", message=SLOW)
    found = repository.reasons(committing(rule), made)
    assert any(repr(SLOW) in reason.message for reason in found)
