"""The page of a specification, as it stands in the repository."""

import textwrap
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from sandbox.tasks.features.parts import kinds
from sandbox.tasks.features.specification import Specification, section
from sandbox.tasks.template import Filling, filled_text

TEMPLATE = Path(__file__).parent / "page.md"
WIDTH = 100


def page(of: Specification) -> str:
    """Write it, in Markdown."""
    filling: Filling = {
        "cents": of.cents,
        "days": of.days,
        "kind": of.kind,
        "fields": "\n".join(
            _wrapped(f"- `{name}`: {filled_text(each.says, of.lists)}.", "  ")
            for name, each in kinds().fields.items()
        ),
    }
    return filled_text(TEMPLATE.read_text(), filling) + "".join(_sections(of))


def _sections(of: Specification) -> Iterator[str]:
    for title, clauses in groupby(of.clauses, section):
        yield f"\n## {title}\n\n"
        for clause in clauses:
            number = f"{of.numbers[clause.key]}. "
            yield _wrapped(number + clause.says(of.numbers), " " * len(number)) + "\n"


def _wrapped(text: str, indent: str) -> str:
    return textwrap.fill(
        text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
