"""Steps: what rules are about. An action joined with its observation and what it wrote."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pydantic import JsonValue

from sandbox.model.event import ActionTaken, Entry, FilesChanged, Observed
from sandbox.model.observation import Observation


@dataclass(frozen=True, slots=True)
class Step:
    """One action of a run."""

    event: int
    """The sequence number of the action's entry."""
    name: str
    arguments: dict[str, JsonValue]
    observation: Observation | None = None
    """None where the run ended before there was one."""
    changes: tuple[str, ...] = ()
    """Paths of the worktree that the action wrote."""


class Joiner:
    """Joins entries as they come."""

    def __init__(self) -> None:
        self._open: dict[str | None, Step] = {}

    def feed(self, entry: Entry) -> Step | None:
        """Take an entry; give the step that it completes."""
        match entry.event:
            case ActionTaken(name=name, arguments=arguments):
                self._open[entry.action_id] = Step(entry.sequence, name, arguments)
            case FilesChanged(paths=paths) if entry.action_id in self._open:
                step = self._open[entry.action_id]
                self._open[entry.action_id] = replace(step, changes=(*step.changes, *paths))
            case Observed(observation=observation) if entry.action_id in self._open:
                return replace(self._open.pop(entry.action_id), observation=observation)
        return None

    def finish(self) -> tuple[Step, ...]:
        """Give the steps that were never answered."""
        return tuple(sorted(self._open.values(), key=lambda step: step.event))


def steps(entries: Iterable[Entry]) -> list[Step]:
    """Give a run's steps in the order of their actions."""
    joiner = Joiner()
    joined = [step for entry in entries if (step := joiner.feed(entry)) is not None]
    return sorted((*joined, *joiner.finish()), key=lambda step: step.event)
