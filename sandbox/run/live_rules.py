"""The trace of a run, with what the task's rules and milestones say beside what happens."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from sandbox.model.event import Entry, Event, RunEnded
from sandbox.model.trace import TraceWriter
from sandbox.rules.monitors.watch import Watch

Events = Sequence[tuple[Event, str | None]]
"""Each with the action that it belongs to."""


@dataclass(slots=True)
class WatchedTrace:
    """Appends from several threads."""

    trace: TraceWriter
    watch: Watch
    lock: threading.RLock = field(default_factory=threading.RLock)
    """Held while something is appended: a process may be decided on at the same time."""
    over: bool = False
    """Whether the last event was recorded."""

    def append(self, event: Event, action_id: str | None = None) -> Entry:
        """Append an event and what is to be said of it."""
        with self.lock:
            entry = self.trace.append(event, action_id)
            for seen in self.watch.feed(entry):
                self.trace.append(seen, action_id)
            return entry

    def append_all(self, events: Events) -> None:
        """Append one after the other."""
        for event, action_id in events:
            self.append(event, action_id)

    def end(self, ended: RunEnded, rest: Events) -> None:
        """Append the rest, what is to be said of the whole, and the last event in any case."""
        with self.lock:
            self.over = True
            try:
                self.append_all(rest)
                for seen in self.watch.finish():
                    self.trace.append(seen)
            finally:
                self.trace.append(ended)
