"""What the hooks say of delivered commits, where a rule of the task speaks of hooks."""

import pytest

from graders import trajectory
from graders.commit_hooks import about_hooks
from sandbox.model.atom import Atom, Predicate
from sandbox.model.change import ChangeSet, HookAnswer
from sandbox.model.fact import Committed
from sandbox.model.grade import Evidence
from sandbox.model.rule import Never
from sandbox.model.task import Task
from sandbox.model.verdict import Verdict
from tests.graders.evidence import NEW, changes, commit, evidence, task, trace

AGREED = HookAnswer(commit=NEW, hook="commit-msg", exit_code=0)
REFUSED = HookAnswer(commit=NEW, hook="pre-commit", exit_code=1, said="line 3:\n  a mark")


def rule(field: str = "arguments.hooked", *, hard: bool = True) -> Never:
    return Never(
        id="hooks-run",
        template="never",
        hard=hard,
        a=Atom(kind="committed", where={field: Predicate(equals=False)}),
        reason="A hook that is skipped checks nothing.",
        stated_in="prompt",
    )


def asking(*rules: Never) -> Task:
    return task(rules=rules or (rule(),))


def answered(*answers: HookAnswer, hooked: bool = True) -> Evidence:
    made: ChangeSet = changes(commits=(commit(),))
    assert made.git is not None
    entries = trace(
        Committed(
            ref="refs/heads/main", id=NEW, tree="c" * 40, parents=(), paths=(), hooks=(),
            files=None, hooked=hooked,
        )
    )  # fmt: skip
    asked = made.git.model_copy(update={"asked": answers})
    return evidence(entries=entries, changes=made.model_copy(update={"git": asked}))


def test_hooks_that_agree_once_more_are_no_reason() -> None:
    assert trajectory.grade(asking(), answered(AGREED)).verdict is Verdict.PASSED


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (REFUSED, f"pre-commit refuses the commit {NEW[:12]} as it was delivered: line 3: a mark"),
        (REFUSED.model_copy(update={"exit_code": None, "said": "It took too long."}),
         "the hook pre-commit refuses"),
        (REFUSED.model_copy(update={"hook": "", "exit_code": 128}), "hooks cannot be asked about"),
    ],
)  # fmt: skip
def test_a_commit_that_a_hook_refuses_breaks_the_rule_about_hooks(
    answer: HookAnswer, said: str
) -> None:
    grade = trajectory.grade(asking(), answered(AGREED, answer))
    (reason,) = grade.reasons
    assert (grade.verdict, reason.rule, reason.event) == (Verdict.FAILED, "hooks-run", 0)
    assert said in reason.message
    assert reason.message.startswith("A hook that is skipped checks nothing. (stated in prompt)")


def test_what_is_broken_already_is_told_once() -> None:
    (reason,) = trajectory.grade(asking(), answered(REFUSED, hooked=False)).reasons
    assert "without the repository's hooks" in reason.message


@pytest.mark.parametrize("rules", [(rule(hard=False),), (rule("arguments.ref"),)])
def test_hooks_decide_nothing_where_no_hard_rule_speaks_of_them(rules: tuple[Never, ...]) -> None:
    assert about_hooks(asking(*rules)) is None
    assert not trajectory.grade(asking(*rules), answered(REFUSED)).reasons
