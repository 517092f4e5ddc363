"""Everything below a folder of this host, however deep, with one descriptor and little memory."""

import os
from collections.abc import Iterator

FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def entries_below(folder: int) -> Iterator[os.DirEntry[str]]:
    """Give each entry below a folder, which stays open.

    Who moves folders meanwhile ends the walk early: it never leaves what it began with. OSError
    where the kernel refuses to look.
    """
    here = os.dup(folder)
    way: list[tuple[os.stat_result, list[str]]] = []
    try:
        while True:
            below: list[str] = []
            way.append((os.fstat(here), below))
            with os.scandir(here) as entries:
                for each in entries:
                    yield each
                    if each.is_dir(follow_symlinks=False):
                        below.append(each.name)
            while not way[-1][1]:
                way.pop()
                if not way:
                    return
                here = _moved(here, "..")
                if not os.path.samestat(os.fstat(here), way[-1][0]):
                    return
            here = _moved(here, way[-1][1].pop())
    finally:
        os.close(here)


def _moved(here: int, name: str) -> int:
    there = os.open(name, FLAGS, dir_fd=here)
    os.close(here)
    return there
