"""The fields of a final answer as the task spells them: names, types, and paths as they were seen.

What a field says is left alone: a value that no reply ever gave stays what it is.
"""

import re
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

_WORDS = {"true": True, "yes": True, "false": False, "no": False}


def canonical(
    given: Mapping[str, JsonValue], wanted: Mapping[str, str], seen: frozenset[str], worktree: str
) -> dict[str, JsonValue]:
    """Return the fields of an answer under the names and with the types that are asked for.

    `seen` are the texts that the run's replies held: one that differs from a given text only in
    case, quotes or where its path starts is the spelling that counts.
    """
    fields = {_plain(name): name for name in wanted}
    found: dict[str, JsonValue] = {}
    for name, value in given.items():
        field = fields.get(_plain(name), name)
        kind = wanted.get(field)
        found[field] = value if kind is None else _value(value, kind, seen, worktree)
    return found


def texts(value: JsonValue) -> Iterator[str]:
    """Yield each short text in a result, which a final answer may name."""
    if isinstance(value, str):
        yield from (line.strip() for line in value.splitlines()[:2000] if len(line) <= 200)
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from texts(part)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _value(value: JsonValue, kind: str, seen: frozenset[str], worktree: str) -> JsonValue:
    match kind, value:
        case "integer", float() if value.is_integer():
            return int(value)
        case "integer", str() if len(numbers := re.findall(r"-?\d+", value)) == 1:
            return int(numbers[0])
        case "number", str() if len(numbers := re.findall(r"-?\d+(?:\.\d+)?", value)) == 1:
            return float(numbers[0]) if "." in numbers[0] else int(numbers[0])
        case "boolean", str() if value.strip().lower() in _WORDS:
            return _WORDS[value.strip().lower()]
        case "string", bool():
            return value
        case "string", int() | float():
            return str(value)
        case "string", str():
            return _text(value, seen, worktree)
        case "list", str():
            return [part.strip() for part in value.split(",") if part.strip()]
        case _:
            return value


def _text(value: str, seen: frozenset[str], worktree: str) -> str:
    bare = value.strip().strip("`'\"").removeprefix(f"{worktree}/").removeprefix("./")
    if bare in seen or not bare:
        return bare or value
    alike = {text for text in seen if text.lower() == bare.lower()}
    return alike.pop() if len(alike) == 1 else bare
