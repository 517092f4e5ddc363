"""Defects that could be planted: each kind's queries, applied to a file's syntax tree."""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox.model import documents
from sandbox.model.seed import Kind, Kinds
from sandbox.tasks.seeds.languages import Part, Source, languages

FILE = Path(__file__).with_name("kinds.yaml")

_END_OF_LINE = re.compile(rb"[ \t]*(?P<end>\r?\n|\Z)")
_FIELD = re.compile(r"\{(?P<name>[a-z]+)(?P<how>\+1|\*\+)?\}")


@dataclass(frozen=True, slots=True)
class Change:
    """Bytes of a file and what stands there with the defect."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Mutation:
    """One place that could be changed."""

    kind: str
    path: str
    function: str
    """The innermost one around it; empty at a module's top."""
    changes: tuple[Change, ...]

    def applied(self, data: bytes) -> bytes:
        """Plant it in the file's content.

        Where nothing stands any more no blanks are left behind, which would show the place.
        """
        for change in sorted(self.changes, key=lambda each: each.start, reverse=True):
            before, after = data[: change.start], data[change.end :]
            if not change.text and not data[: change.end].endswith(b"\n"):
                before, after = _joined(before, after)
            data = before + change.text.encode() + after
        return data


def _joined(before: bytes, after: bytes) -> tuple[bytes, bytes]:
    """Leave no blanks at a line's end where something was taken out, and no empty line."""
    kept = before.rstrip(b" \t")
    rest = _END_OF_LINE.match(after)
    if rest is None:
        return before, after
    at_the_beginning = not kept or kept.endswith(b"\n")
    return kept, after[rest.end() if at_the_beginning else rest.start("end") :]


def mutations(source: Source) -> Iterator[Mutation]:
    """Yield every place of each kind, kinds in their order; a few would leave the syntax wrong."""
    for name, kind in kinds().items():
        for query in _queries(kind, source.language):
            for captures in source.found(query):
                changes = _changes(kind, source, captures)
                if changes:
                    function = source.function_at(changes[0].start)
                    yield Mutation(name, source.path, function, changes)


@functools.cache
def kinds() -> dict[str, Kind]:
    """Read the kinds."""
    return documents.load(FILE, Kinds).root


def _queries(kind: Kind, language: str) -> Iterator[str]:
    for names, query in kind.queries.items():
        if language in names.split():
            yield query


def _changes(kind: Kind, source: Source, captures: dict[str, Part]) -> tuple[Change, ...]:
    """Say what becomes of what was captured; nothing where the kind does not apply."""
    if kind.table:
        at = captures["at"]
        new = kind.table.get(at.text)
        return () if new is None else (Change(at.start, at.end, new),)
    templates = kind.becomes or {"at": kind.instead[source.language]}
    found = []
    for name, template in templates.items():
        text = _filled(template, captures)
        if text is None:
            return ()
        part = captures[name]
        if text and text == languages()[source.language].empty and source.has_company(part):
            text = ""
        if text != part.text:
            found.append(Change(part.start, part.end, text))
    return tuple(found)


def _filled(template: str, captures: dict[str, Part]) -> str | None:
    """Fill a template in; None where a capture cannot be raised or turned as it asks."""
    failed = False

    def fill(match: re.Match[str]) -> str:
        nonlocal failed
        text = captures[match["name"]].text
        changed = _HOW[match["how"]](text)
        failed = failed or changed is None
        return changed or ""

    filled = _FIELD.sub(fill, template)
    return None if failed else filled


def _raised(text: str) -> str | None:
    return str(int(text) + 1) if text.isdecimal() and len(text) < 10 else None


def _greedier(text: str) -> str | None:
    """Turn the first `*` of a pattern into a `+`, or the first `+` into a `*`."""
    place = re.search(r"(?<!\\)[*+]", text)
    if place is None:
        return None
    other = "+" if place[0] == "*" else "*"
    return text[: place.start()] + other + text[place.end() :]


_HOW = {None: lambda text: text, "+1": _raised, "*+": _greedier}
