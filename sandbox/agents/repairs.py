"""What harness mode `minimal` knows: other names and phrases, read from `minimal.yaml`."""

import re
from functools import lru_cache
from pathlib import Path

from pydantic import JsonValue, ValidationError, field_validator

from sandbox.agents.base import Garbage
from sandbox.agents.requests import decode_object
from sandbox.model import documents
from sandbox.model.action import ACTIONS, Request
from sandbox.model.base import Record

SHIPPED = Path(__file__).with_name("minimal.yaml")


class Phrase(Record):
    """A way to ask for an action in plain language."""

    says: str
    action: str

    @field_validator("says")
    @classmethod
    def _is_expression(cls, says: str) -> str:
        re.compile(says)
        return says

    def read(self, text: str) -> dict[str, JsonValue] | None:
        """Return the arguments, None where the text is something else."""
        found = re.match(self.says, text, re.IGNORECASE | re.DOTALL)
        if found is None:
            return None
        return {name: value for name, value in found.groupdict().items() if value is not None}


class Repairs(Record):
    """Other names of actions and of their arguments, and phrases."""

    actions: dict[str, tuple[str, ...]]
    arguments: dict[str, dict[str, tuple[str, ...]]]
    phrases: tuple[Phrase, ...]

    def action(self, name: str) -> str:
        """Return the action that a name stands for; the name itself where that is not known."""
        plain = name.strip().lower().replace("-", "_").rpartition("__")[2]
        if plain in ACTIONS:
            return plain
        return next((known for known, names in self.actions.items() if plain in names), name)

    def argument(self, action: str, name: str) -> str:
        """Return the argument of an action that a name stands for, or the name itself."""
        fields = ACTIONS[action].model_fields
        if name in fields:
            return name
        plain = re.sub(r"(?<=[a-z])(?=[A-Z])|[- ]", "_", name).lower()
        if plain in fields:
            return plain
        known = self.arguments.get(action, {})
        return next((field for field, names in known.items() if plain in names), name)

    def phrase(self, text: str) -> tuple[str, dict[str, JsonValue]] | None:
        """Return the action that plain language asks for, with its arguments."""
        for phrase in self.phrases:
            arguments = phrase.read(text.strip())
            if arguments is not None:
                return phrase.action, arguments
        return None


class Repaired(Request):
    """A request that is not as the agent sent it."""

    repairs: tuple[str, ...]
    """What was repaired, a sentence each."""


@lru_cache(maxsize=1)
def shipped() -> Repairs:
    """The repairs of this version."""
    return documents.load(SHIPPED, Repairs)


def repaired(asked: Request, worktree: str) -> Request:
    """Return a request with the names and types that its action has; itself where all is right."""
    known = shipped()
    name, notes = known.action(asked.action), []
    if name not in ACTIONS:
        return asked
    if name != asked.action:
        notes.append(f"the action {asked.action} is {name}")
    arguments: dict[str, JsonValue] = {}
    for given, value in asked.arguments.items():
        field = known.argument(name, given)
        if field != given and field in asked.arguments:
            field = given
        right = _of_type(name, field, value, worktree)
        if field != given:
            notes.append(f"the argument {given} is {field}")
        elif right != value or type(right) is not type(value):
            notes.append(f"the argument {given} is {right!r}")
        arguments[field] = right
    if not notes:
        return asked
    update = {"action": name, "arguments": arguments, "repairs": tuple(notes)}
    return Repaired(**{**dict(asked), **update})


def routed(said: Garbage, number: int) -> Request | Garbage:
    """Return the request that a line outside of the protocol contains, if it contains one."""
    found = _embedded(said.text)
    if found is None:
        phrase = shipped().phrase(said.text)
        if phrase is None:
            return said
        found = phrase
    action, arguments = found
    identifier = said.id or f"plain-{number}"
    return Repaired(
        id=identifier,
        action=action,
        arguments=arguments,
        repairs=(f"{said.excerpt[:60]!r} asks for {action}",),
    )


def _embedded(text: str) -> tuple[str, dict[str, JsonValue]] | None:
    """Find a call that is spelt as other protocols do, perhaps with words around it."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return None
    try:
        call = decode_object(text[start : end + 1].encode())
    except ValueError:
        return None
    inner = call.get("function")
    if isinstance(inner, dict):
        call = inner
    name = _first(call, ("action", "tool", "name", "tool_name", "function"))
    arguments = _first(call, ("arguments", "args", "input", "parameters", "params"))
    if isinstance(arguments, str):
        try:
            arguments = decode_object(arguments.encode())
        except ValueError:
            return None
    if not isinstance(name, str) or not isinstance(arguments, dict | None):
        return None
    action = shipped().action(name)
    return (action, arguments or {}) if action in ACTIONS else None


def _first(call: dict[str, JsonValue], names: tuple[str, ...]) -> JsonValue:
    return next((call[name] for name in names if name in call), None)


def _of_type(action: str, field: str, value: JsonValue, worktree: str) -> JsonValue:
    """Return a value as its field wants it: numbers and booleans out of text, paths relative."""
    kind = ACTIONS[action].model_fields.get(field)
    if kind is None or not isinstance(value, str):
        return value
    if field in ("path", "cwd") and (value + "/").startswith(worktree + "/"):
        return value[len(worktree) :].strip("/") or "."
    if str in getattr(kind.annotation, "__args__", (kind.annotation,)):
        return value
    read = {"true": True, "false": False}.get(value.strip().lower())
    for candidate in (read, _number(value)):
        if candidate is not None and _takes(action, field, candidate):
            return candidate
    return value


def _number(text: str) -> int | float | None:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def _takes(action: str, field: str, value: JsonValue) -> bool:
    """Whether a field takes a value, whatever else the action needs."""
    try:
        ACTIONS[action].model_validate({field: value})
    except ValidationError as error:
        return all(details["loc"][:1] != (field,) for details in error.errors())
    return True
