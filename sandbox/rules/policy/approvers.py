"""Who answers when an agent asks for permission."""

from typing import ClassVar, Protocol

from sandbox.model.decision import Answer, Answers, Question, ScriptedAnswer
from sandbox.model.errors import UndecidedError
from sandbox.model.patterns import expression


class Approver(Protocol):
    """Someone or something that answers questions; a person may take a while."""

    name: str
    """As `--approver` names it."""
    asked_at_once: ClassVar[bool]
    """Whether it is asked when something is held, too; else only when the agent asks it."""

    def answer(self, question: Question) -> Answer:
        """Approve or deny."""


class ScriptedApprover:
    """Gives the first answer of a script that matches and is not used up."""

    asked_at_once: ClassVar[bool] = False

    def __init__(self, script: Answers, name: str = "script") -> None:
        self.name = name
        self._answers = script.approver
        self._left = [answer.times for answer in script.approver]

    def answer(self, question: Question) -> Answer:
        """Answer by the script; what it does not provide for is denied."""
        used_up = False
        for index, scripted in enumerate(self._answers):
            if not _matches(scripted, question):
                continue
            left = self._left[index]
            if left == 0:
                used_up = True
                continue
            if left is not None:
                self._left[index] = left - 1
            return scripted.answer
        if used_up:
            return Answer(approved=False, reason="This was approved as often as it may be.")
        return Answer(approved=False, reason=f"Nobody grants {question.scope!r} for this command.")


class AllowAll:
    """Approves everything, once per question."""

    name = "allow"
    asked_at_once: ClassVar[bool] = True

    def answer(self, question: Question) -> Answer:  # noqa: ARG002 - the protocol's signature
        """Approve."""
        return Answer(approved=True, reason="Everything is approved in this run.")


class DenyAll:
    """Denies everything."""

    name = "deny"
    asked_at_once: ClassVar[bool] = True

    def answer(self, question: Question) -> Answer:  # noqa: ARG002 - the protocol's signature
        """Deny."""
        return Answer(approved=False, reason="Everything is denied in this run.")


def _matches(scripted: ScriptedAnswer, question: Question) -> bool:
    if scripted.scope != question.scope:
        return False
    if scripted.command is None:
        return True
    try:
        return expression(scripted.command).search(question.command) is not None
    except UndecidedError:
        return not scripted.answer.approved
