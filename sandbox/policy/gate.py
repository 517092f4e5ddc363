"""Whether an action may go ahead: what a decision and the answers so far come to."""

from sandbox.model.decision import Decision, Outcome
from sandbox.model.observation import ErrorCode, Observation
from sandbox.policy.grants import Grant, Grants


def permit(decision: Decision, line: str, grants: Grants) -> Grant | Observation | None:
    """Return None where the action is free, the grant that it uses, or its refusal.

    `line` is what a grant is for: the exact shell line, or the action with its paths.
    """
    if decision.outcome is Outcome.ALLOW:
        return None
    if decision.outcome is Outcome.DENY:
        return _refused(ErrorCode.POLICY_DENIED, f"Rule {decision.rule}: {decision.reason}")
    scope = decision.scope or ""
    grant = grants.use(scope, line)
    if grant is not None:
        return grant
    denial = grants.denial(scope, line)
    if denial is not None:
        other = denial.fallback_command
        hint = f" Do this instead: {other}" if other else ""
        return _refused(ErrorCode.APPROVAL_DENIED, f"It was denied: {denial.reason}{hint}")
    return _refused(
        ErrorCode.APPROVAL_REQUIRED,
        f"{decision.reason} Ask first: request_approval with the scope {scope!r} and the "
        f"command {line!r}; once it is approved, repeat this action.",
    )


def _refused(code: ErrorCode, message: str) -> Observation:
    return Observation(status="error", error_code=code, message=message)
