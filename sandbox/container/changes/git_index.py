"""Git's index as data, versions 2 to 4.

Format: https://git-scm.com/docs/index-format
"""

import hashlib
import struct

from sandbox.container.changes.git_files import GitProblem
from sandbox.model import path_text as paths
from sandbox.model.change import IndexEntry

FIXED = struct.Struct(">40x20sH")
"""Of an entry: times, device, inode, mode, owner and size, then object and flags."""

MODE = struct.Struct(">I")
MODE_OFFSET = 24
EXTENDED, ASSUME_UNCHANGED = 0x4000, 0x8000
SKIP_WORKTREE, INTENT_TO_ADD = 0x4000, 0x2000
CHECKSUM = 20

CACHES = frozenset((b"TREE", b"REUC", b"UNTR", b"EOIE", b"IEOT"))
"""Extensions that only save git work. Others change what the entries mean."""

ENTRY_LIMIT = 200_000


def parse(data: bytes) -> tuple[IndexEntry, ...]:
    """Read an index file; GitProblem where it is damaged or means more than its entries say."""
    try:
        return _parse(data)
    except (struct.error, IndexError, ValueError) as error:
        raise GitProblem("the index is damaged") from error


def _parse(data: bytes) -> tuple[IndexEntry, ...]:
    signature, version, count = struct.unpack_from(">4sII", data)
    body, checksum = data[:-CHECKSUM], data[-CHECKSUM:]
    if signature != b"DIRC" or version not in (2, 3, 4) or count > ENTRY_LIMIT:
        raise GitProblem("the index is of an unknown format")
    # Git writes zeros where index.skipHash is set.
    if any(checksum) and hashlib.sha1(body, usedforsecurity=False).digest() != checksum:
        raise GitProblem("the index does not match its checksum")
    entries = []
    offset, name = 12, b""
    for _ in range(count):
        entry, offset, name = _entry(body, offset, name, version)
        entries.append(entry)
    _check_extensions(body, offset)
    return tuple(entries)


def _entry(body: bytes, start: int, previous: bytes, version: int) -> tuple[IndexEntry, int, bytes]:
    digest, flags = FIXED.unpack_from(body, start)
    (mode,) = MODE.unpack_from(body, start + MODE_OFFSET)
    offset = start + FIXED.size
    more = 0
    if flags & EXTENDED:
        (more,) = struct.unpack_from(">H", body, offset)
        offset += 2
    if version == 4:
        kept, offset = _strip(body, offset, len(previous))
        end = body.index(b"\0", offset)
        name = previous[:kept] + body[offset:end]
        following = end + 1
    else:
        end = body.index(b"\0", offset)
        name = body[offset:end]
        following = start + (end - start + 8) // 8 * 8
    entry = IndexEntry(
        path=paths.text(name),
        object=digest.hex(),
        mode=mode,
        stage=flags >> 12 & 3,
        assume_unchanged=bool(flags & ASSUME_UNCHANGED),
        skip_worktree=bool(more & SKIP_WORKTREE),
        intent_to_add=bool(more & INTENT_TO_ADD),
    )
    return entry, following, name


def _strip(body: bytes, offset: int, length: int) -> tuple[int, int]:
    """Read how much of the previous name is kept: a number in git's offset encoding."""
    byte = body[offset]
    value = byte & 0x7F
    while byte & 0x80:
        offset += 1
        byte = body[offset]
        value = (value + 1) << 7 | byte & 0x7F
        if value > length:
            break
    if value > length:
        raise ValueError("more is stripped than there is")
    return length - value, offset + 1


def _check_extensions(body: bytes, offset: int) -> None:
    while offset < len(body):
        name, size = struct.unpack_from(">4sI", body, offset)
        if name not in CACHES:
            raise GitProblem(
                f"the index has the extension {name.decode('latin-1')!a}, with which its"
                " entries are not all that git sees"
            )
        offset += 8 + size
