"""A trace as the steps of a run, each with what came of it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from sandbox.cli.event_text import gist, told
from sandbox.model.event import ActionTaken, ApprovalDecided, Entry, Executed, Observed
from sandbox.model.fact import Refused

Tone = Literal["", "good", "bad", "faint"]

NOTES = 200
"""Events of one step that are shown; `sandbox trace` has them all."""
SHORT = 100
"""Characters of a value that stands in a line."""
DIFFERENCES = frozenset(("patch", "diff"))
_TONES: dict[str, Tone] = {"violation": "bad", "fault_injected": "bad", "claim": "faint"}


@dataclass(frozen=True, slots=True)
class Value:
    """Something named: an argument, or a field of what came back."""

    name: str
    text: str
    long: bool
    difference: bool


@dataclass(frozen=True, slots=True)
class Note:
    """An event besides action and observation."""

    sequence: int
    kind: str
    text: str
    tone: Tone


@dataclass(slots=True)
class Step:
    """An action with all that belongs to it; without a name, what happened between actions."""

    sequence: int
    number: int
    name: str
    began: float
    gist: str = ""
    arguments: list[Value] = field(default_factory=list)
    decision: str = ""
    notes: list[Note] = field(default_factory=list)
    left_out: int = 0
    observed: int | None = None
    """The sequence number of the observation; None where none came."""
    status: str = ""
    message: str = ""
    result: list[Value] = field(default_factory=list)
    ended: float = 0.0
    tone: Tone = ""
    marks: list[Note] = field(default_factory=list)
    """What the step broke or reached, again."""

    @property
    def seconds(self) -> float:
        """How long it took."""
        return max(0.0, self.ended - self.began)


def steps(entries: Sequence[Entry]) -> list[Step]:
    """Put the entries of a trace together, in their order."""
    found: list[Step] = []
    number = 0
    for entry in entries:
        event = entry.event
        if isinstance(event, ActionTaken):
            number += 1
            found.append(_begun(entry, event, number))
        else:
            if not found or (found[-1].name and entry.action_id is None):
                found.append(Step(entry.sequence, number, "", entry.elapsed))
            _add(found[-1], entry)
        found[-1].ended = entry.elapsed
    return found


def _begun(entry: Entry, event: ActionTaken, number: int) -> Step:
    decision = event.decision
    return Step(
        entry.sequence,
        number,
        event.name,
        entry.elapsed,
        gist=gist(event),
        arguments=list(values(event.arguments)),
        decision="not understood" if decision is None else str(decision.outcome),
    )


def _add(step: Step, entry: Entry) -> None:
    event = entry.event
    if isinstance(event, Observed):
        seen = event.observation
        step.observed = entry.sequence
        step.status = str(seen.error_code or seen.status)
        step.message = seen.message or ""
        step.result = list(values(seen.result))
        step.tone = step.tone or ("bad" if seen.error_code else "")
        return
    note = Note(entry.sequence, event.kind.replace("_", " "), told(event), _tone(entry))
    if event.kind in ("violation", "milestone"):
        step.marks.append(note)
    if event.kind == "violation":
        step.tone = "bad"
    if len(step.notes) < NOTES or note.tone == "bad":
        step.notes.append(note)
    else:
        step.left_out += 1


def _tone(entry: Entry) -> Tone:
    match entry.event:
        case Refused():
            return "bad"
        case Executed(verdict=verdict) if verdict != "allowed":
            return "bad"
        case ApprovalDecided(answer=answer):
            return "good" if answer.approved else "bad"
        case event if event.kind == "milestone":
            return "good" if event.reached else "bad"
        case event:
            return _TONES.get(event.kind, "")


def values(fields: Mapping[str, JsonValue]) -> Iterator[Value]:
    """Write fields as text, long ones apart; what is empty or false says nothing."""
    for name, value in fields.items():
        if value is None or value is False or value in ("", [], {}):
            continue
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if not isinstance(value, str) and len(text) > SHORT:
            text = json.dumps(value, ensure_ascii=False, indent=1)
        long = "\n" in text.rstrip("\n") or len(text) > SHORT
        yield Value(name, text, long, name in DIFFERENCES)
