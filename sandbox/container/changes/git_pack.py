"""New commits as a pack: for a repository that has all that was there before them.

Format: https://git-scm.com/docs/gitformat-pack
"""

import hashlib
import struct
import zlib
from collections.abc import Iterable

from sandbox.container.changes.git_files import Files
from sandbox.container.changes.git_history import History
from sandbox.container.changes.git_objects import KINDS, Objects
from sandbox.model.change import Commit

_NUMBERS = {name: number for number, name in KINDS.items()}
_FAST = 1
"""zlib's level: a pack is read once and thrown away."""


def pack(files: Files, commits: Iterable[Commit]) -> bytearray:
    """Read commits with what they add to their first parents; GitProblem where they cannot be.

    All of it is held once and never copied: it may be as large as all objects that are read.
    """
    objects = Objects(files)
    history = History(objects)
    names = dict.fromkeys(name for commit in commits for name in history.added(commit))
    found = bytearray(b"PACK" + struct.pack(">II", 2, len(names)))
    for name in names:
        kind, content = objects.get(name)
        found += _header(_NUMBERS[kind], len(content)) + zlib.compress(content, _FAST)
    found += hashlib.sha1(found, usedforsecurity=False).digest()
    return found


def _header(kind: int, size: int) -> bytes:
    """Give kind and size: four bits of the size, then seven in each byte, lowest first."""
    byte, size = kind << 4 | size & 15, size >> 4
    written = bytearray()
    while size:
        written.append(byte | 0x80)
        byte, size = size & 0x7F, size >> 7
    written.append(byte)
    return bytes(written)
