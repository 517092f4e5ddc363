"""What was approved and denied in a run: each answer is for one scope and one exact command."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass

from sandbox.model.decision import Answer, Question


@dataclass(frozen=True, slots=True)
class Grant:
    """An approval that can be used."""

    question: Question
    answer: Answer
    granted_at: int
    """Sequence number of the event that recorded the answer."""


class Grants:
    """The latest answer for each scope and command; a newer one takes an older one's place."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: dict[tuple[str, str], Grant] = {}

    def record(self, question: Question, answer: Answer, sequence: int) -> None:
        """Keep an approver's answer, recorded in the trace under `sequence`."""
        key = (question.scope, question.command)
        self._answers[key] = Grant(question, answer, sequence)

    def answered(self, scope: str, command: str) -> bool:
        """Whether there is an answer for a command, whichever, that still holds."""
        return (scope, command) in self._answers

    def holds(self, scope: str, command: str) -> bool:
        """Whether there is a grant for a command that can be used."""
        grant = self._answers.get((scope, command))
        return grant is not None and grant.answer.approved

    def use_all(self, scopes: Iterable[str], command: str) -> tuple[Grant, ...] | None:
        """Use a grant for each scope; None, and none is used, where one is missing."""
        with self._lock:
            wanted = tuple(scopes)
            if not all(self.holds(scope, command) for scope in wanted):
                return None
            found = (self.use(scope, command) for scope in wanted)
            return tuple(grant for grant in found if grant is not None)

    def use(self, scope: str, command: str) -> Grant | None:
        """Return the grant for a command, None where there is none; one for once is used up."""
        grant = self._answers.get((scope, command))
        if grant is None or not grant.answer.approved:
            return None
        if grant.answer.lasts == "once":
            del self._answers[scope, command]
        return grant

    def denial(self, scope: str, command: str) -> Answer | None:
        """Return the answer that denied a command, None where it was not denied."""
        grant = self._answers.get((scope, command))
        return None if grant is None or grant.answer.approved else grant.answer
