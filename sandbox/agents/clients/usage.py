"""What a client says that its model has used: a claim, read from JSON that it leaves."""

import json
from collections.abc import Iterator
from typing import Any

from sandbox.agents.clients.preset import UsageReading
from sandbox.model.usage import ModelUsage

Json = dict[str, Any] | list[Any]


def read(reading: UsageReading, text: str) -> ModelUsage | None:
    """Add up what a text tells; None where it tells nothing."""
    found = [document for document in _documents(reading, text) if _counts(reading, document)]
    if reading.last:
        found = found[-1:]
    if not found:
        return None
    return ModelUsage(
        input_tokens=round(_sum(found, reading.input)),
        output_tokens=round(_sum(found, reading.output)),
        cached_tokens=round(_sum(found, reading.cached)),
        cost=_sum(found, reading.cost) if reading.cost else None,
    )


def _documents(reading: UsageReading, text: str) -> Iterator[Json]:
    for part in text.splitlines() if reading.lines else [text]:
        try:
            document = json.loads(part)
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict | list):
            yield document


def _counts(reading: UsageReading, document: Json) -> bool:
    return all(value in map(str, _at(document, path)) for path, value in reading.where.items())


def _sum(documents: list[Json], paths: tuple[str, ...]) -> float:
    values = [value for each in documents for path in paths for value in _at(each, path)]
    # A claim that is no amount is passed over.
    return sum(
        value
        for value in values
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15
    )


def _at(document: object, path: str) -> Iterator[object]:
    """All that a path leads to."""
    name, _, rest = path.partition(".")
    if isinstance(document, dict):
        inner = list(document.values()) if name == "*" else [document.get(name)]
    elif isinstance(document, list) and name == "*":
        inner = document
    else:
        return
    for value in inner:
        if rest:
            yield from _at(value, rest)
        else:
            yield value
