"""Steps: what rules are about. An action joined with its observation and what it wrote.

Steps come in the order in which they are complete: an action when it is answered, after what
happened in it. One that was never answered comes last.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import cast, get_args

from pydantic import JsonValue

from sandbox.model.atom import StepKind
from sandbox.model.event import ActionTaken, Entry, Event, FilesChanged, Observed, RunStarted
from sandbox.model.fact import Changed
from sandbox.model.observation import Observation

_ALONE = frozenset(get_args(StepKind)) - {"action"}
"""Kinds of events that are steps by themselves."""

FACTS_SINCE = 2
"""The version of the trace's schema that has facts."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happened in a run."""

    event: int
    """The sequence number of the entry that began it."""
    name: str
    """Of the action; of any other step its kind."""
    arguments: dict[str, JsonValue]
    observation: Observation | None = None
    """None where the run ended before there was one."""
    changes: tuple[str, ...] = ()
    """Paths of the worktree that the action wrote."""
    kind: StepKind = "action"
    """An event that is no action is a step by itself; its fields are its arguments."""
    bare: bool = False
    """Of an action in a trace without facts: what it changed, read and tested it tells itself."""


class Joiner:
    """Joins entries as they come."""

    def __init__(self) -> None:
        self._open: dict[str | None, Step] = {}
        self._bare = True

    def feed(self, entry: Entry) -> Step | None:
        """Take an entry; give the step that it completes."""
        event = entry.event
        if isinstance(event, RunStarted):
            self._bare = event.schema_version < FACTS_SINCE
        if isinstance(event, ActionTaken):
            self._open[entry.action_id] = Step(
                entry.sequence, event.name, event.arguments, bare=self._bare
            )
        elif event.kind in _ALONE:
            return alone(event, entry.sequence)
        elif entry.action_id not in self._open:
            return None
        elif isinstance(event, Observed):
            asked = self._open.pop(entry.action_id)
            # Spelt out: `replace` takes longer than all the rest of this.
            return Step(
                asked.event,
                asked.name,
                asked.arguments,
                event.observation,
                asked.changes,
                bare=asked.bare,
            )
        elif isinstance(event, FilesChanged):
            step = self._open[entry.action_id]
            self._open[entry.action_id] = replace(step, changes=(*step.changes, *event.paths))
        return None

    def finish(self) -> tuple[Step, ...]:
        """Give the steps that were never answered."""
        return tuple(sorted(self._open.values(), key=lambda step: step.event))


def everything(entries: Iterable[Entry]) -> Iterator[Step]:
    """Give all steps of a run, as rules see them."""
    joiner = Joiner()
    for entry in entries:
        if (step := joiner.feed(entry)) is not None:
            yield step
    yield from joiner.finish()


def steps(entries: Iterable[Entry]) -> list[Step]:
    """Give a run's actions in the order in which they were taken."""
    actions = (step for step in everything(entries) if step.kind == "action")
    return sorted(actions, key=lambda step: step.event)


def alone(event: Event, sequence: int) -> Step | None:
    """Make a step of an event; a program that the harness itself needed is nobody's doing."""
    fields = event.model_dump(mode="json", exclude={"kind"})
    if event.kind not in _ALONE or fields.get("by_harness"):
        return None
    paths = (event.path,) if isinstance(event, Changed) else ()
    kind = cast(StepKind, event.kind)
    return Step(sequence, event.kind, fields, changes=paths, kind=kind)
