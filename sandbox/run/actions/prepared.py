"""An action that is understood: what it is about, what it would change, how it is carried out."""

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.rules.policy.subject import Subject
from sandbox.run.actions.outcome import Performed
from sandbox.run.actions.workspace import Workspace

Perform = Callable[[Workspace], Performed]


def _nothing() -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Prepared:
    """One parse and one resolution of an action's paths, for policy, approvers and the deed."""

    subject: Subject
    """What the policy judges."""
    perform: Perform
    """Carries it out in the workspace; raises Refusal where that is impossible."""
    effect: Callable[[], str] = _nothing
    """The difference that it would make to files, for who is asked; empty where none is known."""
