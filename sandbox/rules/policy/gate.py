"""Whether an action may go ahead: what a decision and the answers so far come to."""

from collections.abc import Sequence

from sandbox.model.decision import Decision, Outcome, Question
from sandbox.model.observation import ErrorCode, Observation
from sandbox.rules.policy.grants import Grant, Grants
from sandbox.rules.policy.rules import Judgement


def permit(
    decisions: Sequence[Decision], line: str, grants: Grants, part: str = ""
) -> tuple[Grant, ...] | Observation:
    """Return the grants that the action uses, none where it is free, or its refusal.

    `line` is what a grant is for: the exact shell line, or the action with its paths; `part` is the
    program in it that decided, where one did. Of several decisions, each a permission that is
    needed, no grant is used before there is one for each.
    """
    asked = [decision for decision in decisions if decision.outcome is Outcome.ASK]
    for decision in decisions:
        if decision.outcome is Outcome.DENY:
            by = f"Rule {decision.rule}: " if decision.rule else ""
            about = f" In this line it is about {part!r}." if part not in ("", line) else ""
            return _refused(ErrorCode.POLICY_DENIED, by + decision.reason + about)
    used = grants.use_all([decision.scope or "" for decision in asked], line)
    if used is not None:
        return used
    lacking = (one for one in asked if not grants.holds(one.scope or "", line))
    return missing(next(lacking, asked[0]), line, grants)


def left_to_programs(
    judgement: Judgement, refusal: Observation, grants: Grants
) -> tuple[Grant, ...] | Observation:
    """Let a line go ahead whose programs each have a grant of their own, to be used when they run.

    So it does not matter what stands around a command that was permitted. Else the refusal, which
    names the program that lacks a permission. Only where programs are held until they are decided
    on.
    """
    asked = judgement.programs_asked
    if asked is None:
        return refusal
    for one in asked:
        if not grants.holds(one.decision.scope or "", one.command):
            return missing(one.decision, one.command, grants)
    return ()


def unanswered(decisions: Sequence[Decision], line: str, grants: Grants) -> list[Question]:
    """Return what an approver would have to be asked before the action can go ahead."""
    return [
        Question(scope=decision.scope, command=line, reason=decision.reason)
        for decision in decisions
        if decision.scope is not None and not grants.answered(decision.scope, line)
    ]


def missing(decision: Decision, line: str, grants: Grants) -> Observation:
    """Say that a permission is missing, or was denied, and what to do."""
    scope = decision.scope or ""
    by = f"Rule {decision.rule}: " if decision.rule else ""
    denial = grants.denial(scope, line)
    if denial is not None:
        other = denial.fallback_command
        hint = f" Do this instead: {other}" if other else ""
        return _refused(ErrorCode.APPROVAL_DENIED, f"{by}It was denied: {denial.reason}{hint}")
    return _refused(
        ErrorCode.APPROVAL_REQUIRED,
        f"{by}{decision.reason} Ask first: request_approval with the scope {scope!r} and the "
        f"command {line!r}; once it is approved, repeat this action.",
    )


def _refused(code: ErrorCode, message: str) -> Observation:
    return Observation(status="error", error_code=code, message=message)
