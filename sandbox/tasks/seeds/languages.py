"""Source files as syntax trees, by tree-sitter; the one place that knows its package."""

import functools
import importlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from sandbox.model import documents
from sandbox.model.errors import UsageError
from sandbox.model.seed import Language, Languages

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Query, Tree

FILE = Path(__file__).with_name("languages.yaml")


@dataclass(frozen=True, slots=True)
class Part:
    """What a query has captured: some bytes of a file."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Source:
    """A file whose syntax is right, as far as its grammar can tell."""

    path: str
    data: bytes
    language: str
    tree: "Tree"
    faults: int = 0
    """Places that the grammar does not take; of a language without macros there are none."""
    definitions: tuple[tuple[str, Part], ...] = ()
    """Functions and classes: names and bodies, in order of their places."""

    def found(self, query: str, *, within: Part | None = None) -> Iterator[dict[str, Part]]:
        """Yield the captures of each match, in order of their places."""
        from tree_sitter import QueryCursor

        cursor = QueryCursor(_query(self.language, query))
        if within is not None:
            cursor.set_byte_range(within.start, within.end)
        matches = [captures for _, captures in cursor.matches(self.tree.root_node)]
        parts = [
            {name: _part(nodes[0]) for name, nodes in captures.items()} for captures in matches
        ]
        yield from sorted(parts, key=lambda each: sorted((p.start, p.end) for p in each.values()))

    def calls(self, within: Part | None = None) -> set[str]:
        """Names of what is called."""
        query = languages()[self.language].calls
        return {each["name"].text for each in self.found(query, within=within)}

    def has_company(self, statement: Part) -> bool:
        """Whether other statements stand in its block."""
        node = self.tree.root_node.descendant_for_byte_range(statement.start, statement.end)
        while node is not None and node.type not in ("block", "module"):
            node = node.parent
        return node is not None and sum(not each.is_extra for each in node.named_children) > 1

    def function_at(self, place: int) -> str:
        """Name the innermost function or class around a byte; empty where there is none."""
        around = [
            (body.end - body.start, name)
            for name, body in self.definitions
            if body.start <= place < body.end
        ]
        return min(around)[1] if around else ""


def parsed(path: str, data: bytes) -> Source | None:
    """Read a file; None where its language is unknown, its syntax wrong, or it is not UTF-8.

    What macros stand for no grammar knows: in a language that has them a file may have faults.
    UsageError where the language's grammar is not installed.
    """
    suffix = PurePosixPath(path).suffix
    for name, language in languages().items():
        if suffix in language.suffixes:
            from tree_sitter import Parser

            tree = Parser(_grammar(name)).parse(data)
            faults = _faults(tree.root_node)
            if (faults and not language.macros) or not _is_text(data):
                return None
            bare = Source(path, data, name, tree, faults)
            found = bare.found(language.definitions)
            return replace(bare, definitions=tuple((at["name"].text, at["body"]) for at in found))
    return None


def _faults(node: "Node") -> int:
    """Count what the grammar has skipped or put in."""
    own = int(node.is_error or node.is_missing)
    return own + sum(_faults(each) for each in node.children if each.has_error)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@functools.cache
def languages() -> dict[str, Language]:
    """Read what is known of each language."""
    return documents.load(FILE, Languages).root


@functools.cache
def _grammar(name: str) -> "Grammar":
    language = languages()[name]
    try:
        from tree_sitter import Language as Grammar

        package = importlib.import_module(language.grammar)
    except ImportError as error:
        raise UsageError(
            f"The grammar of {name} is not installed: {error.name} is missing.",
            "Install the extra that mining needs: pip install 'sandbox[mine]'.",
        ) from error
    return Grammar(getattr(package, language.function)())


@functools.cache
def _query(language: str, text: str) -> "Query":
    from tree_sitter import Query

    return Query(_grammar(language), text)


def _part(node: "Node") -> Part:
    return Part(node.start_byte, node.end_byte, (node.text or b"").decode())
