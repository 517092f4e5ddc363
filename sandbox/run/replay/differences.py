"""Where two runs of the same actions differ: by action, in what came of it and in its facts."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import get_args

from pydantic import JsonValue

from sandbox.model.base import Record
from sandbox.model.event import ActionTaken, Entry, Executed, Observed, RunEnded
from sandbox.model.fact import Committed, Fact, RefMoved, Stashed

RAN = ("program", "argv", "verdict", "exit_code", "signal", "by_harness")
"""What is compared of a program; its number, and how long it took, are not."""

DRAWN = re.compile(r"(?<![\w./-])(/tmp)/[^\s/\"':,;=]+")
"""Names there are drawn by programs."""
OUTCOME = ("exit_code", "failed")
"""What is compared of an observation, besides whether it was an error; the words are not."""


class Difference(Record):
    """One action of which not the same came."""

    action: int
    """From 1."""
    name: str
    then: tuple[str, ...]
    """Facts, as JSON, that only the recorded run has."""
    now: tuple[str, ...]


@dataclass(slots=True)
class Deed:
    """An action with all that came of it, whatever the order."""

    name: str
    facts: Counter[str] = field(default_factory=Counter)
    answered: bool = False


def differences(then: Sequence[Entry], now: Sequence[Entry]) -> list[Difference]:
    """Compare two traces action by action.

    Commits are told apart by their order, since their ids hold the time; what they hold is
    compared by tree and paths. An action that the end of the recorded run cut off is not compared,
    for how far it got depends on when that was.
    """
    over = any(isinstance(entry.event, RunEnded) for entry in then)
    found = []
    for number, (old, new) in enumerate(zip_longest(deeds(then), deeds(now)), 1):
        if over and old is not None and not old.answered:
            continue
        before = old.facts if old else Counter[str]()
        after = new.facts if new else Counter[str]()
        if before != after:
            only_then, only_now = before - after, after - before
            found.append(
                Difference(
                    action=number,
                    name=(old or new or Deed("?")).name,
                    then=tuple(sorted(only_then.elements())),
                    now=tuple(sorted(only_now.elements())),
                )
            )
    return found


def deeds(entries: Sequence[Entry]) -> list[Deed]:
    """Put facts, programs and observations to their actions."""
    numbers: dict[str, str] = {}
    found: list[Deed] = []
    for entry in entries:
        event = entry.event
        if isinstance(event, ActionTaken):
            found.append(Deed(event.name, Counter([_text(_asked(event))])))
        elif found:
            found[-1].answered |= isinstance(event, Observed)
            found[-1].facts.update(_texts(entry, numbers))
    return found


def _asked(event: ActionTaken) -> dict[str, JsonValue]:
    return {"asked": event.name, "decision": event.decision.outcome if event.decision else None}


def _texts(entry: Entry, numbers: dict[str, str]) -> Iterator[str]:
    event = entry.event
    if isinstance(event, Observed):
        seen = event.observation
        told: dict[str, JsonValue] = {
            name: seen.result[name] for name in OUTCOME if name in seen.result
        }
        yield _text({"came": seen.status, "error_code": seen.error_code, **told})
    elif isinstance(event, Executed):
        yield _text({"kind": event.kind, **event.model_dump(mode="json", include=set(RAN))})
    elif isinstance(event, get_args(Fact)):
        fields = event.model_dump(mode="json")
        if isinstance(event, Committed | RefMoved | Stashed):
            fields = {name: _numbered(value, name, numbers) for name, value in fields.items()}
        yield _text(fields)


def _numbered(value: JsonValue, name: str, numbers: dict[str, str]) -> JsonValue:
    """Replace a commit's id by the number of its first appearance."""
    if isinstance(value, list):
        return [_numbered(each, name, numbers) for each in value] if name == "parents" else value
    if name not in ("id", "parents", "before", "after", "tip") or not isinstance(value, str):
        return value
    return numbers.setdefault(value, f"commit {len(numbers) + 1}")


def _text(fields: dict[str, JsonValue]) -> str:
    return DRAWN.sub(r"\1/*", json.dumps(fields, ensure_ascii=False, sort_keys=True))
