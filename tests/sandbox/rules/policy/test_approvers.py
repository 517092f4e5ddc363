"""Approvers, and the grants that their answers make."""

from sandbox.model.decision import Answer, Policy, Question, ScriptedAnswer
from sandbox.rules.policy.approvers import AllowAll, DenyAll, ScriptedApprover
from sandbox.rules.policy.grants import Grants

YES = Answer(approved=True)
NO = Answer(approved=False, reason="No.", fallback_command="true")
FOREVER = Answer(approved=True, lasts="run")


def ask(command: str, scope: str = "network") -> Question:
    return Question(scope=scope, command=command)


def test_the_script_is_followed_in_order_and_used_up() -> None:
    approver = ScriptedApprover(
        Policy(
            approver=(
                ScriptedAnswer(scope="network", command="^pip", answer=YES, times=1),
                ScriptedAnswer(scope="network", command="^pip", answer=NO, times=1),
                ScriptedAnswer(scope="root", answer=FOREVER),
            )
        )
    )
    assert approver.answer(ask("pip install a")) == YES
    assert approver.answer(ask("pip install b")) == NO
    last = approver.answer(ask("pip install c"))
    assert not last.approved
    assert "as often as it may be" in last.reason
    assert [approver.answer(ask("x", "root")) for _ in range(3)] == [FOREVER] * 3
    unknown = approver.answer(ask("curl"))
    assert not unknown.approved
    assert "network" in unknown.reason


def test_two_approvers_of_one_script_do_not_share_what_is_left() -> None:
    policy = Policy(approver=(ScriptedAnswer(scope="network", answer=YES, times=1),))
    assert ScriptedApprover(policy).answer(ask("x")).approved
    assert ScriptedApprover(policy).answer(ask("x")).approved


def test_the_simple_approvers() -> None:
    assert AllowAll().answer(ask("x")).approved
    assert not DenyAll().answer(ask("x")).approved
    assert DenyAll().answer(ask("x")).reason


def test_a_grant_for_once_is_used_up() -> None:
    grants = Grants()
    assert grants.use("network", "x") is None
    grants.record(ask("x"), YES, 7)
    assert grants.use("root", "x") is None
    assert grants.use("network", "x ") is None
    grant = grants.use("network", "x")
    assert grant is not None
    assert grant.granted_at == 7
    assert grants.use("network", "x") is None
    assert grants.denial("network", "x") is None


def test_a_grant_for_the_run_stays() -> None:
    grants = Grants()
    grants.record(ask("x"), FOREVER, 1)
    assert grants.use("network", "x") == grants.use("network", "x") is not None


def test_a_newer_answer_takes_the_place_of_an_older_one() -> None:
    grants = Grants()
    grants.record(ask("x"), FOREVER, 1)
    grants.record(ask("x"), NO, 2)
    assert grants.use("network", "x") is None
    assert grants.denial("network", "x") == NO
    grants.record(ask("x"), YES, 3)
    assert grants.denial("network", "x") is None
    assert grants.use("network", "x") is not None
