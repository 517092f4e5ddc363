"""Values of JSON: how they are found in a step, compared and turned into text."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from sandbox.model.atom import Predicate
from sandbox.model.glob import Globs
from sandbox.model.patterns import expression
from sandbox.rules.monitors.steps import Step

Check = Callable[[Any], bool]

ABSENT = object()
"""What `found` gives where there is no such field; null is a value."""


def equal(one: JsonValue, other: JsonValue) -> bool:
    """Compare values of JSON, in type too: 1, 1.0 and true are three values."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return one == other


def text(value: JsonValue) -> str:
    """Give a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def found(step: Step, field: Sequence[str]) -> Any:  # noqa: ANN401 - JSON, or ABSENT
    """Look up `arguments`, a name, ... or `result`, a name, ...; ABSENT where nothing is."""
    value: Any
    if field[0] == "arguments":
        value = step.arguments
    else:
        value = ABSENT if step.observation is None else step.observation.result
    for name in field[1:]:
        if isinstance(value, Mapping):
            value = value.get(name, ABSENT)
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return ABSENT
    return value


def tester(wanted: Predicate) -> Check:
    """Compile a predicate; it is asked with a value of JSON or ABSENT."""
    checks = tuple(_checks(wanted))

    def holds(value: Any) -> bool:  # noqa: ANN401 - JSON, or ABSENT
        if value is ABSENT:
            return wanted.exists is False
        return wanted.exists is not False and all(check(value) for check in checks)

    return holds


def _checks(wanted: Predicate) -> list[Check]:
    """Give the comparisons that a predicate asks for, of values that are there."""
    checks: list[Check] = []
    if "equals" in wanted.model_fields_set:
        checks.append(lambda value: equal(value, wanted.equals))
    if (values := wanted.one_of) is not None:
        checks.append(lambda value: any(equal(value, each) for each in values))
    if (above := wanted.more_than) is not None:
        checks.append(lambda value: _is_number(value) and value > above)
    if (least := wanted.at_least) is not None:
        checks.append(lambda value: _is_number(value) and value >= least)
    if (below := wanted.less_than) is not None:
        checks.append(lambda value: _is_number(value) and value < below)
    if (most := wanted.at_most) is not None:
        checks.append(lambda value: _is_number(value) and value <= most)
    if wanted.matches is not None:
        search = expression(wanted.matches).search
        checks.append(lambda value: search(text(value)) is not None)
    if wanted.like is not None:
        match = Globs((wanted.like,)).match
        checks.append(lambda value: isinstance(value, str) and match(value))
    if "has" in wanted.model_fields_set:
        checks.append(lambda value: isinstance(value, list) and _holds(value, wanted.has))
    if "lacks" in wanted.model_fields_set:
        checks.append(lambda value: isinstance(value, list) and not _holds(value, wanted.lacks))
    if wanted.several is not None:
        any_of = Globs(wanted.several).match
        checks.append(lambda value: isinstance(value, list) and _count(value, any_of) > 1)
    return checks


def _holds(values: list[JsonValue], wanted: JsonValue) -> bool:
    return any(equal(value, wanted) for value in values)


def _count(values: list[JsonValue], match: Callable[[str], bool]) -> int:
    return sum(isinstance(value, str) and match(value) for value in values)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
