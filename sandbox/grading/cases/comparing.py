"""What a case expects of a call, and whether an answer is that: exactly, types included."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.grading.cases.answers import Answer, Fields, Raised, Value
from sandbox.grading.runners import wire
from sandbox.model.errors import UndecidedError
from sandbox.model.patterns import expression

RAISED = "raised"
"""The key of a script's answer that says which error a line raised; else it is `value`."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A value or some fields, or an error by its class and a pattern that its text holds."""

    wire: Any = None
    """Of a script: a list, with an answer for each of `lines`."""
    lines: Sequence[str] = ()
    """Those of a script that count: from the first one on."""
    raises: str | None = None
    message: str | None = None


def objection(answer: Answer, expected: Expected) -> str:
    """Say why an answer is not what was expected; empty where it is."""
    if isinstance(answer, Fields):
        return _fields(answer.wires, expected)
    if isinstance(answer, Raised):
        return _raised(answer, expected)
    if expected.raises is not None:
        return f"gave {wire.show(answer.wire)} and had to raise {expected.raises}"
    if expected.lines:
        return _script(answer.wire, expected)
    return _value(answer, expected.wire)


def same(given: Any, expected: Any) -> bool:  # noqa: ANN401
    """Whether two values are equal, types included; RecursionError, ValueError: they are not."""
    try:
        return bool(wire.canonical(given) == wire.canonical(expected))
    except (ValueError, TypeError, OverflowError, RecursionError):
        return False


def _value(answer: Value, expected: Any) -> str:  # noqa: ANN401
    if same(answer.wire, expected):
        return ""
    return f"gave {_shown(answer.wire)}, not {_shown(expected)}"


def _raised(answer: Raised, expected: Expected) -> str:
    text = f"raised {answer.type}: {answer.message[: wire.TEXT_LIMIT]}"
    if expected.raises is None:
        return f"{text}; had to give {_shown(expected.wire)}"
    if answer.type != expected.raises:
        return f"{text}; had to raise {expected.raises}"
    try:
        if expected.message and expression(expected.message).search(answer.message) is None:
            return f"{text}; its text has to hold {expected.message}"
    except UndecidedError as error:
        return f"{text}; {error.message}"
    return ""


def _fields(given: Mapping[str, Any], expected: Expected) -> str:
    """Compare the fields that are named, and no others."""
    named = dict(expected.wire["dict"])
    for name, value in named.items():
        if name not in given:
            return f"gave no {name}"
        if not same(given[name], value):
            return f"gave {name} = {_shown(given[name])}, not {_shown(value)}"
    return ""


def _script(told: list[Any], expected: Expected) -> str:
    """Compare line by line; what the last ones give may not count."""
    for line, given, wanted in zip(expected.lines, told, expected.wire, strict=False):
        if not same(given, wanted):
            right = f"where without the defect it {_told(wanted)}"
            return f"{line[: wire.TEXT_LIMIT]} {_told(given)}, {right}"
    return ""


def _told(answer: Any) -> str:  # noqa: ANN401
    """Say what a line gave or raised; an answer may be anything."""
    try:
        ((how, value),) = answer["dict"]
    except (TypeError, KeyError, ValueError):
        return f"gave {_shown(answer)}"
    return f"raised {_shown(value)}" if how == RAISED else f"gave {_shown(value)}"


def _shown(value: Any) -> str:  # noqa: ANN401
    return wire.show(value)[: wire.TEXT_LIMIT]
