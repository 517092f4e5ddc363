"""What a trace gives to do its run again: the actions as they were asked for, and the answers."""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from typing import ClassVar

from sandbox.model.decision import Answer, Question
from sandbox.model.event import ActionTaken, ApprovalDecided, Entry
from sandbox.model.task import ScriptedAction


def actions(entries: Iterable[Entry], unknown: str) -> list[ScriptedAction]:
    """Give the actions in their order; lines that were no requests, called `unknown`, did nothing.

    Repairs of spelling are in what was recorded.
    """
    asked = (entry.event for entry in entries if isinstance(entry.event, ActionTaken))
    return [
        ScriptedAction(action=event.name, arguments=event.arguments)
        for event in asked
        if event.name != unknown
    ]


class RecordedApprover:
    """Gives to each question the answers that it got, in their order; what is new is denied."""

    asked_at_once: ClassVar[bool] = False

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.name = "recorded"
        self._answers: dict[tuple[str, str], deque[Answer]] = defaultdict(deque)
        for entry in entries:
            event = entry.event
            if isinstance(event, ApprovalDecided) and event.granted_at is None:
                self._answers[event.question.scope, event.question.command].append(event.answer)

    def answer(self, question: Question) -> Answer:
        """Answer as then."""
        left = self._answers[question.scope, question.command]
        if left:
            return left.popleft()
        return Answer(approved=False, reason="Nobody was asked this in the recorded run.")


class RecordedPerson(RecordedApprover):
    """The same for answers of somebody who was asked whenever something was held."""

    asked_at_once: ClassVar[bool] = True
