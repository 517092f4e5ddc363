"""The calls of each function, as they would be had its first two parameters changed places."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from sandbox.tasks.seeds.languages import Part, Source, languages
from sandbox.tasks.seeds.mutations import Mutation, mutations

KIND = "argument-order"

_OBJECT = re.compile(r"([^\s.(]*)\s*\.\s*\Z")
"""The end of what a name is looked up in, which stands before it."""
NEAR = 100
"""In how many bytes."""


def call_sites(sources: Iterable[Source]) -> dict[str, list[Mutation]]:
    """Give the calls of each function that is defined once, by its name, as places to change.

    A call that gives less than two arguments by their order is left out, and one of a method that
    may as well be another's.
    """
    defined: Counter[str] = Counter()
    found: dict[str, list[Mutation]] = defaultdict(list)
    for source in sources:
        defined.update(name for name, _ in source.definitions)
        query = languages()[source.language].calls
        names = [each["name"] for each in source.found(query)]
        for mutation in mutations(source):
            if mutation.kind == KIND and (name := _called(source, names, mutation)):
                found[name].append(mutation)
    return {name: places for name, places in found.items() if defined[name] == 1}


def _called(source: Source, names: Sequence[Part], mutation: Mutation) -> str:
    """Name what gets the arguments that a mutation exchanges; empty where it has no name."""
    first = min(change.start for change in mutation.changes)
    last = max((name for name in names if name.end <= first), key=_end, default=None)
    if last is None or source.data[last.end : first].strip() != b"(":
        return ""
    own = languages()[source.language].own
    before = source.data[max(last.start - NEAR, 0) : last.start].decode("utf-8", "replace")
    of = _OBJECT.search(before)
    if own and of and of[1] not in own:
        return ""
    return last.text


def _end(part: Part) -> int:
    return part.end
