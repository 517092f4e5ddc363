"""Values in place of the variables in an atom's patterns, where they stand for themselves."""

import re
from collections.abc import Callable, Mapping

from pydantic import JsonValue

from sandbox.model.atom import Atom, Predicate


def filled(atom: Atom, values: Mapping[str, str]) -> Atom:
    """Give the atom with `{x}` replaced; a value is never read as a pattern."""
    use = re.compile(r"\{(" + "|".join(map(re.escape, values)) + r")\}")

    def put(text: str, quote: Callable[[str], str]) -> str:
        return use.sub(lambda found: quote(values[found[1]]), text)

    def plain(value: JsonValue) -> JsonValue:
        return put(value, str) if isinstance(value, str) else value

    def predicate(wanted: Predicate) -> Predicate:
        updates: dict[str, object] = {}
        if "equals" in wanted.model_fields_set:
            updates["equals"] = plain(wanted.equals)
        if wanted.one_of is not None:
            updates["one_of"] = tuple(map(plain, wanted.one_of))
        if wanted.matches is not None:
            updates["matches"] = put(wanted.matches, re.escape)
        if wanted.like is not None:
            updates["like"] = put(wanted.like, glob_escape)
        if wanted.several is not None:
            updates["several"] = tuple(put(each, glob_escape) for each in wanted.several)
        return wanted.model_copy(update=updates)

    updates: dict[str, object] = {
        "arguments": {name: put(each, re.escape) for name, each in atom.arguments.items()},
        "result": {name: plain(value) for name, value in atom.result.items()},
        "where": {name: predicate(each) for name, each in atom.where.items()},
    }
    for name in ("action", "reads"):
        if (pattern := getattr(atom, name)) is not None:
            updates[name] = put(pattern, glob_escape)
    if atom.changes is not None:
        updates["changes"] = tuple(put(each, glob_escape) for each in atom.changed)
    if atom.argv is not None:
        updates["argv"] = tuple(
            put(word, glob_escape)
            if isinstance(word, str)
            else tuple(put(each, glob_escape) for each in word)
            for word in atom.argv
        )
    if atom.tests is not None:
        updates["tests"] = tuple(put(path, str) for path in atom.tests)
    return atom.model_copy(update=updates)


def glob_escape(text: str) -> str:
    """Write a text so that a glob matches it and nothing else."""
    return re.sub(r"([*?\[])", r"[\1]", text)
