"""What a trace gives to do its run again: what the agent said, line by line, and the answers."""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import ClassVar

from sandbox.agents.base import Departure, Garbage
from sandbox.model.action import Request
from sandbox.model.briefing import Briefing, Ended, Reply
from sandbox.model.decision import Answer, Question
from sandbox.model.event import ActionTaken, ApprovalDecided, Entry


class RecordedAgent:
    """Says again what an agent has said, with the same ids, whatever it is told.

    Repairs of spelling are in what was recorded. A line that was no request, which the trace has
    under the name `unknown`, is one that is none again.
    """

    name = "replay"

    def __init__(self, entries: Sequence[Entry], unknown: str) -> None:
        self._said = iter(list(said(entries, unknown)))

    def begin(self, briefing: Briefing) -> None:
        """Nothing is to be prepared."""

    def next(self, reply: Reply | None, timeout: float) -> Request | Garbage | None:  # noqa: ARG002
        """Say what comes next."""
        return next(self._said, None)

    def ending(self) -> Departure:
        """Say that there is no more."""
        return Departure("The recorded run has no further actions.")

    def close(self, reply: Reply | None, ended: Ended) -> None:
        """Nothing is to be released."""


def said(entries: Sequence[Entry], unknown: str) -> Iterator[Request | Garbage]:
    """Give what an agent has said, in its order."""
    for entry in entries:
        event = entry.event
        if not isinstance(event, ActionTaken):
            continue
        if event.name == unknown:
            line = str(event.arguments.get("line", ""))
            yield Garbage(
                "It was not a request when it was recorded either.", line, entry.action_id
            )
        else:
            yield Request(
                id=entry.action_id or str(entry.sequence),
                action=event.name,
                arguments=event.arguments,
                usage=event.usage,
            )


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
