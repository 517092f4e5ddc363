"""A yes is given for the very call that wants it; any other wording is told how to name it."""

import pytest

from sandbox.model.decision import Question
from sandbox.model.errors import UsageError
from sandbox.rules.checker.check import check
from sandbox.rules.policy.approvers import ScriptedApprover
from sandbox.tasks import library
from sandbox.tasks.plans.operators.single_use_approval import SCOPE


@pytest.mark.parametrize("strength", range(1, 5))
def test_a_yes_is_for_the_command_that_is_wanted_then_and_for_no_other(strength: int) -> None:
    name = f"qs/guard-once+change-desk+unrecoverable-failure+single-use-approval.{strength}"
    task = library.load(name).task
    (asked,) = {
        str(action.arguments["command"])
        for action in task.oracle
        if action.action == "request_approval"
    }
    (closing,) = (
        action.arguments for action in task.oracle if action.arguments.get("tool") == "close_change"
    )
    assert asked == f"call_tool {closing['server']}/close_change"
    approver = ScriptedApprover(task.policy)
    assert approver.answer(Question(scope=SCOPE, command=asked, reason="")).approved
    for other in ("close_change huu1010", f"{asked} huu1010", "close the entry"):
        answer = approver.answer(Question(scope=SCOPE, command=other, reason=""))
        assert not answer.approved
        assert "call_tool SERVER/TOOL" in answer.reason


def test_what_a_task_forbids_to_ask_for_is_not_needed() -> None:
    """Only where the very permission is meant; another task of its own has approvals, too."""
    asking = library.load("humanize/approved-f899ce3e+change-desk.2+single-use-approval.2@3").task
    assert check(asking).sound
    with pytest.raises(UsageError, match="a rule of it forbids to ask for permission"):
        library.load("minimist/nothing-to-ask+change-desk.2+single-use-approval.2@3")
