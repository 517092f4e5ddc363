"""Which lines of the files that rules name an agent has been shown, whatever printed them."""

from collections.abc import Collection, Iterator, Mapping

from pydantic import JsonValue

from sandbox.model.fact import Shown
from sandbox.run.facts.pieces import pieces, pieces_shown

SHORTEST = 12
"""Characters of a line that can be told from those of other files."""

LINES_MOST = 5_000
"""Lines of one file that are looked for."""


class Named:
    """A named file's lines, and which of them have not been shown yet."""

    def __init__(self, path: str, text: str, *, closely: bool = False) -> None:
        """Know a file.

        Where nobody is to read it, `closely`, a piece of a line counts for the line, and what the
        file held before counts on.
        """
        self.path, self._closely = path, closely
        self._pieces: dict[str, set[str]] = {}
        """By piece, the lines that have it."""
        self.replace(text)

    def replace(self, text: str) -> None:
        """Take the file's new text; what has been shown of the old one is forgotten."""
        stripped = [line.strip() for line in text.splitlines() if line.strip()]
        long = dict.fromkeys(line for line in stripped if len(line) >= SHORTEST)
        lines = set(list(long or dict.fromkeys(stripped))[:LINES_MOST])
        if self._closely and self._pieces:
            return
        self._left, self._total = lines, len(lines)
        if self._closely:
            for line in lines:
                for piece in pieces(line):
                    self._pieces.setdefault(piece, set()).add(line)

    def shown(self, texts: list[str], *, all_of_it: bool = False) -> Shown | None:
        """Say what of it some texts show for the first time; None where that is nothing."""
        found = {line for line in self._left if all_of_it or any(line in text for text in texts)}
        for piece in self._seen_closely(texts):
            found |= self._pieces[piece] & self._left
        if not found:
            return None
        self._left -= found
        seen = self._total - len(self._left)
        return Shown(
            path=self.path,
            lines=len(found),
            seen=seen,
            total=self._total,
            most=2 * seen >= self._total,
        )

    def _seen_closely(self, texts: list[str]) -> set[str]:
        if not self._pieces or not self._left:
            return set()
        known = set(self._pieces)
        return set().union(*(pieces_shown(text, known) for text in texts))


class ShownFiles:
    """All named files of a run."""

    def __init__(self, texts: Mapping[str, str], closed: Collection[str] = ()) -> None:
        """Know them by path with their texts, and which of them nobody is to read."""
        self._files = {
            path: Named(path, text, closely=path in closed) for path, text in texts.items()
        }

    def __contains__(self, path: str) -> bool:
        return path in self._files

    def replace(self, path: str, text: str) -> None:
        """A named file holds another text."""
        self._files[path].replace(text)

    def take(self, result: Mapping[str, JsonValue]) -> Iterator[Shown]:
        """Look through what an agent is told."""
        texts = list(_texts(dict(result))) if self._files else []
        for file in self._files.values():
            if (found := file.shown(texts)) is not None:
                yield found

    def read(self, path: str) -> Iterator[Shown]:
        """An agent in the container has read it itself: nobody sees what it is told."""
        if (found := self._files[path].shown([], all_of_it=True)) is not None:
            yield found


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
