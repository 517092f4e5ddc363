"""What a task's rules say of an action, before it is carried out."""

import re
from dataclasses import dataclass
from functools import lru_cache

from sandbox.model.decision import ActionMatch, Decision, Outcome, Policy
from sandbox.model.glob import Globs


@dataclass(frozen=True, slots=True)
class Subject:
    """What rules look at in an action."""

    action: str
    """Its name."""
    command: str | None = None
    """The shell line that it runs; None where it runs none."""
    paths: tuple[str, ...] = ()
    """The files that it names, relative to the worktree."""

    @property
    def line(self) -> str:
        """What a grant is for: the shell line, else the action with its paths."""
        return self.command if self.command is not None else " ".join((self.action, *self.paths))


def decide(policy: Policy, subject: Subject) -> Decision:
    """Return what the first rule that matches says; where none does, the action is allowed."""
    for rule in policy.rules:
        if _matches(rule.match, subject):
            return Decision(
                outcome=rule.decision, rule=rule.id, scope=rule.scope, reason=rule.reason
            )
    return Decision(outcome=Outcome.ALLOW)


def _matches(match: ActionMatch, subject: Subject) -> bool:
    if match.action is not None and not _globs(match.action).match(subject.action):
        return False
    if match.command is not None and not (
        subject.command is not None and re.search(match.command, subject.command)
    ):
        return False
    return match.path is None or any(_globs(match.path).match(path) for path in subject.paths)


@lru_cache(maxsize=1024)
def _globs(pattern: str) -> Globs:
    return Globs([pattern])
