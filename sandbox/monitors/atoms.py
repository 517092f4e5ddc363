"""Whether a step matches an atom."""

import json
import re
from collections.abc import Callable
from fnmatch import fnmatchcase

from pydantic import JsonValue

from sandbox.model.glob import Globs
from sandbox.model.rule import Atom
from sandbox.monitors.steps import Step

Matcher = Callable[[Step], bool]


def matcher(atom: Atom) -> Matcher:
    """Compile an atom; ValueError where a glob or an expression in it is wrong."""
    globs = None if atom.changes is None else Globs((atom.changes,))
    try:
        arguments = {name: re.compile(pattern) for name, pattern in atom.arguments.items()}
    except re.error as error:
        raise ValueError(f"{error.pattern!r} is no regular expression: {error}") from error

    def matches(step: Step) -> bool:
        return (
            (atom.action is None or fnmatchcase(step.name, atom.action))
            and all(_found(pattern, step, name) for name, pattern in arguments.items())
            and _answered(atom, step)
            and (globs is None or any(globs.match(path) for path in step.changes))
        )

    return matches


def equal(one: JsonValue, other: JsonValue) -> bool:
    """Compare values of JSON, in type too: 1, 1.0 and true are three values."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return one == other


def described(atom: Atom) -> str:
    """Say in words what an atom matches."""
    parts = [f"action {atom.action}" if atom.action is not None else "an action"]
    parts += [f"with {name} ~ /{pattern}/" for name, pattern in atom.arguments.items()]
    if atom.changes is not None:
        parts.append(f"that writes {atom.changes}")
    if atom.status is not None:
        parts.append(f"with status {atom.status}")
    if atom.error_code is not None:
        parts.append(f"with error {atom.error_code}")
    parts += [f"with result {name} = {json.dumps(value)}" for name, value in atom.result.items()]
    return " ".join(parts)


def _found(pattern: re.Pattern[str], step: Step, name: str) -> bool:
    if name not in step.arguments:
        return False
    value = step.arguments[name]
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return pattern.search(text) is not None


def _answered(atom: Atom, step: Step) -> bool:
    seen = step.observation
    if atom.status is None and atom.error_code is None and not atom.result:
        return True
    if seen is None:
        return False
    return (
        (atom.status is None or seen.status == atom.status)
        and (atom.error_code is None or seen.error_code == atom.error_code)
        and all(
            name in seen.result and equal(seen.result[name], value)
            for name, value in atom.result.items()
        )
    )
