"""Everything below a folder of this host, however deep, with few descriptors and little memory."""

import errno
import os
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
MOST_LOSSES = 100
"""How often the way back is looked for; it takes as many steps as the place is deep."""


@dataclass(frozen=True, slots=True)
class _Level:
    """A folder on the way from the top."""

    identity: os.stat_result
    left: list[str]
    """The folders in it that are still to be looked at."""
    entered: str
    """The one that is looked at."""


def entries_below(folder: int) -> Iterator[os.DirEntry[str]]:
    """Give each entry below a folder, which stays open and is never left.

    Others may be at work there: a folder that is removed or replaced is passed over, and the way
    back from one that was moved is looked for from the top. OSError where the kernel refuses.
    """
    here = os.dup(folder)
    way: list[_Level] = []
    losses = 0
    try:
        left = yield from _entries(here)
        while left or way:
            if left:
                name = left.pop()
                if (there := _opened(here, name)) is None:
                    continue
                way.append(_Level(os.fstat(here), left, name))
                here = _moved(here, there)
                left = yield from _entries(here)
            elif (there := _opened(here, "..", way[-1].identity)) is not None:
                here, left = _moved(here, there), way.pop().left
            else:
                losses += 1
                if losses > MOST_LOSSES:
                    return
                there, depth = _reached(folder, [each.entered for each in way[:-1]])
                here, left = _moved(here, there), way[depth].left
                del way[depth:]
    finally:
        os.close(here)


def _entries(folder: int) -> Generator[os.DirEntry[str], None, list[str]]:
    """Give its entries; return the names of those that are folders."""
    folders: list[str] = []
    with os.scandir(folder) as entries:
        for each in entries:
            yield each
            if each.is_dir(follow_symlinks=False):
                folders.append(each.name)
    return folders


def _reached(top: int, names: Sequence[str]) -> tuple[int, int]:
    """Go down from the top as far as these names still lead; give the folder and its depth."""
    here = os.dup(top)
    for depth, name in enumerate(names):
        if (there := _opened(here, name)) is None:
            return here, depth
        here = _moved(here, there)
    return here, len(names)


def _opened(here: int, name: str, identity: os.stat_result | None = None) -> int | None:
    """Open a folder; None where it has gone, or is none, or not the one that is asked for."""
    try:
        there = os.open(name, FLAGS, dir_fd=here)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return None
        raise
    if identity is None or os.path.samestat(os.fstat(there), identity):
        return there
    os.close(there)
    return None


def _moved(here: int, there: int) -> int:
    os.close(here)
    return there
