"""How much of what was written is listed: no agent decides what its evidence costs."""

from collections.abc import Callable
from functools import lru_cache

GENERATED = 10_000
"""Entries in folders whose contents are nobody's, such as /tmp and caches."""

OTHERS = 20_000
"""Entries in all other folders."""

PATH_BYTES = 8 << 20
"""Of the paths of all entries together."""

DEPTH = 256
"""Slashes in the path of a folder that is looked into, at most, ..."""

PATH_LIMIT = 8000
"""... and bytes."""

FOLDERS = 1000
"""Folders that are named for what is not listed below them; then only those at the top are."""


class Bounds:
    """Counts what is listed and, by folder, what is not. Paths are absolute."""

    def __init__(self, generated: Callable[[bytes], bool]) -> None:
        """`generated` says of a folder whether what may come into it is nobody's."""
        self._generated = lru_cache(maxsize=4096)(generated)
        self._left = {True: GENERATED, False: OTHERS}
        self._bytes = PATH_BYTES
        self.unlisted: dict[bytes, int] = {}
        """Folders, and how many entries below each are not listed."""

    def takes(self, path: bytes) -> bool:
        """Count an entry; where it is beyond the bounds it is not to be listed."""
        folder = path.rpartition(b"/")[0] or b"/"
        beyond = outermost(folder)
        if beyond is None and self._is_left(len(path), generated=self._generated(folder)):
            return True
        self.leave_out(beyond or folder, 1)
        return False

    def leave_out(self, folder: bytes, entries: int) -> None:
        """Count entries below a folder that are not listed."""
        if folder not in self.unlisted and len(self.unlisted) >= FOLDERS:
            folder = b"/" + folder.split(b"/", 2)[1]
        if entries:
            self.unlisted[folder] = self.unlisted.get(folder, 0) + entries

    def _is_left(self, size: int, *, generated: bool) -> bool:
        if not self._left[generated] or self._bytes < size:
            return False
        self._left[generated] -= 1
        self._bytes -= size
        return True


def outermost(folder: bytes) -> bytes | None:
    """Give the first folder on the way to one, it included, that lies too deep to look into."""
    too_deep = folder.count(b"/") > DEPTH
    if not too_deep and len(folder) <= PATH_LIMIT:
        return None
    names = folder.split(b"/", DEPTH + 2)[: DEPTH + 2]
    by_depth = b"/".join(names) if too_deep else folder
    end = folder.find(b"/", PATH_LIMIT + 1)
    return by_depth if end < 0 or end > len(by_depth) else folder[:end]
