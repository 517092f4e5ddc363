"""The user of a task: whoever gave it answers questions, and may change the wish meanwhile."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from sandbox.model.atom import Atom, compiled
from sandbox.model.awaited import awaited
from sandbox.model.base import Record
from sandbox.model.decision import Words
from sandbox.model.graph import NAME
from sandbox.model.layer import MOVING

FOLLOWED = (*MOVING, "user_said")
"""Facts that a turn of the user's can follow."""


def _follows_a_fact(atom: Atom) -> Atom:
    return awaited(atom, FOLLOWED, "a turn")


class Saying(Record):
    """Something that the user says."""

    id: str = Field(pattern=NAME)
    """By which rules speak of it."""
    says: str = Field(min_length=1)
    marks: tuple[str, ...] = ()
    """What it sets, for answers that wait for it."""


class UserAnswer(Saying):
    """An answer; of the user's the first that fits a question is given."""

    asked: tuple[Words, ...] = ()
    """Of each of these groups one word or phrase stands in the question; case does not matter."""
    after: str | None = None
    """A mark that something said before has set."""
    before: str | None = None
    """A mark that nothing has set yet."""
    times: int | None = Field(default=None, ge=1)
    """How often it is given; without end where this is left out."""


Understanding = Callable[[str, Sequence[UserAnswer]], str | None]
"""Picks one of some answers to a question by its id, None where none fits; it may take a while."""


class UserTurn(Saying):
    """Something that the user says unasked, once."""

    after: Annotated[Atom, AfterValidator(_follows_a_fact)]
    """The fact that it follows; those of the turns before it have come."""


class User(Record):
    """Who can be asked by `ask_user`, and what they say by themselves."""

    answers: tuple[UserAnswer, ...] = ()
    otherwise: str = Field(default="I have nothing to add to what I wrote.", min_length=1)
    """The answer where none fits."""
    turns: tuple[UserTurn, ...] = ()
    """In order; each waits for the one before it."""

    @property
    def sayings(self) -> tuple[Saying, ...]:
        """All that they may say but `otherwise`."""
        return (*self.answers, *self.turns)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if problems := list(self._problems()):
            raise ValueError("; ".join(problems))
        return self

    def _problems(self) -> Iterator[str]:
        names = [saying.id for saying in self.sayings]
        for name in dict.fromkeys(names):
            if names.count(name) > 1:
                yield f"{name} is said twice"
        for saying in self.sayings:
            if not all(map(str.strip, (saying.says, *saying.marks))):
                yield f"{saying.id}: a text or a mark is blank"
        yield from self._answer_problems()
        for turn in self.turns:
            if turn.after.about == "user_said" and not self._may_follow(turn):
                yield f"turn {turn.id} waits for what nobody says before it"

    def _answer_problems(self) -> Iterator[str]:
        always = ""
        for answer in self.answers:
            if always:
                yield f"answer {answer.id} is never given: {always} before it fits every question"
            if not any((answer.asked, answer.after, answer.before, answer.times)):
                always = answer.id
            if any(not word.strip() for words in answer.asked for word in words):
                yield f"answer {answer.id}: a word of `asked` is blank"
            if answer.after is not None and answer.after == answer.before:
                yield f"answer {answer.id} waits for the mark that it may not have"
            setting = (one for one in self.sayings if one.id != answer.id or answer.after is None)
            marks = {mark for saying in setting for mark in saying.marks}
            for mark in (answer.after, answer.before):
                if mark is not None and mark not in marks:
                    yield f"answer {answer.id} waits for the mark {mark!r}, which nothing sets"

    def _may_follow(self, turn: UserTurn) -> bool:
        """Whether something that can be said before a turn is what it waits for."""
        wanted = turn.after.arguments.get("saying")
        before = itertools.takewhile(lambda each: each.id != turn.id, self.turns)
        said = [saying.id for saying in (*self.answers, *before)]
        return wanted is None or any(compiled(wanted).search(each) for each in said)
