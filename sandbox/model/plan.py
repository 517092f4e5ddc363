"""The plan of a task: the oracle's way as named segments, and what else may be done beside it.

`docs/plan.md` says how one is written, and what the compiler derives from it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, Self

from pydantic import Field, JsonValue, model_validator

from sandbox.model.base import Record
from sandbox.model.graph import NAME, Condition, EventKind, State, Value
from sandbox.model.observation import ErrorCode


class PlannedDeed(Record):
    """An action of the oracle or of somebody else, or what happens, and what the monitors see."""

    label: str | None = Field(default=None, pattern=NAME)
    """By which ways speak of it."""
    action: str | None = None
    again: str | None = None
    """The label of an action of the oracle's; its outcome is the same but for what stands here."""
    event: EventKind | None = None
    """Something that happens in the action which follows; no action by itself."""
    arguments: dict[str, JsonValue] = {}
    files: dict[str, str] = {}
    """Arguments whose text stands in a file beside the task file."""
    error_code: ErrorCode | None = None
    """None where the action is carried out."""
    result: dict[str, JsonValue] = {}
    """Fields of the result that a rule looks at."""
    changes: tuple[str, ...] = ()
    """Paths that an editing action writes."""

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        if [self.action, self.again, self.event].count(None) != 2:
            raise ValueError("give one of `action`, `again` and `event`")
        if self.again is not None and (self.arguments or self.files or self.label):
            raise ValueError("`again` takes label and arguments of the oracle's action")
        if self.event is not None and (self.files or self.told):
            raise ValueError("an event has `arguments` and nothing else")
        if both := self.arguments.keys() & self.files.keys():
            raise ValueError(f"{min(both)} stands in `arguments` and in `files`")
        return self

    @property
    def told(self) -> bool:
        """Whether it says what comes of the action."""
        return self.error_code is not None or bool(self.result) or bool(self.changes)


class Segment(Record):
    """A part of the oracle's way, from the state before it to the one that it reaches."""

    id: str = Field(pattern=NAME)
    to: str
    """The state that it reaches."""
    says: str = ""
    """What holds there, in a few words."""
    right: bool | Condition | None = None
    """Of the last one: whether tests, collateral and final answer pass there."""
    also_from: tuple[str, ...] = ()
    """States of other ways from which it can be done too."""
    does: tuple[PlannedDeed, ...] = Field(min_length=1)
    when: Condition = {}
    sets: dict[str, Value] = {}
    milestone: str | None = None
    kind: Literal["step", "retry", "fallback"] = "step"
    ends: Literal["answer", "stop"] | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """Of its deeds, in order."""
        return tuple(deed.label for deed in self.does if deed.label is not None)


class Way(Record):
    """Something else that may be done: another legal way, a way back, or a trap."""

    id: str = Field(pattern=NAME)
    origin: str | tuple[str, ...] = Field(alias="from")
    """A state, or several."""
    to: str | None = None
    """The state that it leads to; where this is left out, that of `like`, or the one before."""
    like: str | None = None
    """A segment that it is, but for what is left out and replaced."""
    without: tuple[str, ...] = ()
    """Labels of the segment's deeds that are left out."""
    instead: dict[str, PlannedDeed] = {}
    """By label: what is done in place of the segment's deed."""
    does: tuple[PlannedDeed, ...] = ()
    when: Condition = {}
    sets: dict[str, Value] = {}
    milestone: str | None = None
    kind: Literal["step", "retry", "fallback", "trap"] = "trap"
    ends: Literal["answer", "stop"] | None = None

    @model_validator(mode="after")
    def _edits_or_does(self) -> Self:
        if self.like is None and (self.without or self.instead):
            raise ValueError("`without` and `instead` go with `like`")
        if self.like is not None and self.does:
            raise ValueError("`like` says what is done: leave `does` out, or `like`")
        return self


class Plan(Record):
    """Segments in the oracle's order, and ways beside them."""

    start: str
    says: str = ""
    """What holds at the start."""
    variables: dict[str, tuple[Value, ...]] = {}
    """As in a graph."""
    segments: tuple[Segment, ...] = Field(min_length=1)
    ways: tuple[Way, ...] = ()
    states: dict[str, State] = {}
    """What no segment reaches."""

    @property
    def deeds(self) -> tuple[PlannedDeed, ...]:
        """All deeds of the oracle's way."""
        return tuple(deed for segment in self.segments for deed in segment.does)

    def segment(self, name: str) -> Segment:
        """Return the segment of that id, which there is."""
        return next(segment for segment in self.segments if segment.id == name)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if problems := [*self._segment_problems(), *self._way_problems()]:
            raise ValueError("; ".join(problems))
        return self

    def _segment_problems(self) -> Iterator[str]:
        for label in _repeated(deed.label for deed in self.deeds if deed.label is not None):
            yield f"two deeds have the label {label}"
        for name in _repeated(
            [*(part.id for part in self.segments), *(part.id for part in self.ways)]
        ):
            yield f"{name} occurs twice among segments and ways"
        for name in _repeated((self.start, *(part.to for part in self.segments), *self.states)):
            yield f"the state {name} is reached or described twice"
        for segment in self.segments:
            if any(deed.again is not None for deed in segment.does):
                yield f"segment {segment.id}: `again` is for ways; write its actions out"
        if all(deed.action is None for deed in self.deeds):
            yield "the segments hold no action"

    def _way_problems(self) -> Iterator[str]:
        actions = {deed.label for deed in self.deeds if deed.action is not None}
        segments = {segment.id: segment for segment in self.segments}
        for way in self.ways:
            for deed in (*way.does, *way.instead.values()):
                if deed.again is not None and deed.again not in actions:
                    yield f"way {way.id}: no action of the oracle has the label {deed.again}"
                if deed.label is not None:
                    yield f"way {way.id}: only deeds of segments have labels"
            if way.like is None:
                continue
            if way.like not in segments:
                yield f"way {way.id}: there is no segment {way.like}"
                continue
            for label in sorted({*way.without, *way.instead} - {*segments[way.like].labels}):
                yield f"way {way.id}: no deed of {way.like} has the label {label}"


def _repeated(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]
