"""Git's objects as data: loose ones and packs, verified by their own names.

Only what lies in the folder itself is read, never an alternate. All work is bounded, since an
agent may have written every byte.

Formats: https://git-scm.com/docs/gitformat-pack and https://git-scm.com/docs/gitformat-loose
"""

import hashlib
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox.container.changes.git_files import Files, GitProblem, whole

OBJECT_LIMIT = 16 << 20
"""Bytes of the largest commit, tree or tag."""

TOTAL_LIMIT = 256 << 20
"""Bytes of all objects that are read, bases of deltas included."""

INDEX_LIMIT = 64 << 20
PACK_LIMIT = 1000
DEPTH_LIMIT = 4095
"""Git's own limit on a chain of deltas."""

WINDOW = 1 << 14
KINDS = {1: b"commit", 2: b"tree", 3: b"blob", 4: b"tag"}
OFFSET_DELTA, REFERENCE_DELTA = 6, 7


@dataclass(frozen=True, slots=True)
class _Pack:
    """A pack's path and, by object, where it starts in it."""

    path: bytes
    offsets: dict[bytes, int]


class Objects:
    """The object store of one repository. Ids are in hexadecimal."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._packs: list[_Pack] | None = None
        self._left = TOTAL_LIMIT

    @property
    def exhausted(self) -> bool:
        """Whether nothing more is read, since too much was."""
        return self._left < 0

    def get(self, identity: str) -> tuple[bytes, bytes]:
        """Give an object's kind and content; GitProblem where it is missing or not itself."""
        found = self._loose(identity) or self._packed(bytes.fromhex(identity))
        if found is None:
            raise GitProblem(f"object {identity} is missing")
        kind, content = found
        if kind not in KINDS.values():
            raise GitProblem(f"object {identity} is of no kind that git has")
        header = b"%s %d\0" % (kind, len(content))
        if hashlib.sha1(header + content, usedforsecurity=False).hexdigest() != identity:
            raise GitProblem(f"object {identity} is damaged")
        return found

    def _loose(self, identity: str) -> tuple[bytes, bytes] | None:
        path = f".git/objects/{identity[:2]}/{identity[2:]}".encode()
        data = whole(self._files, path, OBJECT_LIMIT)
        if data is None:
            return None
        content = self._inflate(iter((data,)), OBJECT_LIMIT)
        header, _, body = content.partition(b"\0")
        return header.partition(b" ")[0], body

    def _packed(self, identity: bytes) -> tuple[bytes, bytes] | None:
        place = self._place(identity)
        return None if place is None else self._unpack(*place)

    def _place(self, identity: bytes) -> tuple[_Pack, int] | None:
        """Find a pack with an object, and where it starts there."""
        packs = (pack for pack in self._all_packs() if identity in pack.offsets)
        return next(((pack, pack.offsets[identity]) for pack in packs), None)

    def _unpack(self, pack: _Pack, offset: int) -> tuple[bytes, bytes]:
        """Read an object of a pack and apply the chain of deltas that leads to it."""
        deltas: list[bytes] = []
        while True:
            if len(deltas) > DEPTH_LIMIT:
                raise GitProblem("a pack's deltas are chained without end")
            kind, size, start, base = self._header(pack, offset)
            data = self._inflate(self._windows(pack, start), size)
            if kind in KINDS:
                name, content = KINDS[kind], data
                break
            deltas.append(data)
            if isinstance(base, int):
                offset = base
                continue
            place = self._place(base)
            if place is None:
                raise GitProblem(f"object {base.hex()} is missing")
            pack, offset = place
        for delta in reversed(deltas):
            content = self._charged(_apply(content, delta))
        return name, content

    def _header(self, pack: _Pack, offset: int) -> tuple[int, int, int, int | bytes]:
        """Read kind, size, where the data starts, and a delta's base: its offset or its name."""
        data = self._files.read(pack.path, 64, offset) or b""
        try:
            byte = data[0]
            kind, size, at, shift = byte >> 4 & 7, byte & 15, 1, 4
            while byte & 0x80:
                byte = data[at]
                size |= (byte & 0x7F) << shift
                at, shift = at + 1, shift + 7
            base: int | bytes = b""
            if kind == OFFSET_DELTA:
                distance, at = _distance(data, at)
                base = offset - distance
                if not 0 < base < offset:
                    raise GitProblem("a pack's delta has no base")
            elif kind == REFERENCE_DELTA:
                base = data[at : at + 20]
                at += 20
            elif kind not in KINDS:
                raise GitProblem("a pack holds an object of no known kind")
        except IndexError as error:
            raise GitProblem("a pack is cut off") from error
        if size > OBJECT_LIMIT:
            raise GitProblem(f"an object is larger than {OBJECT_LIMIT} bytes")
        return kind, size, offset + at, base

    def _windows(self, pack: _Pack, offset: int) -> Iterator[bytes]:
        while data := self._files.read(pack.path, WINDOW, offset):
            offset += len(data)
            yield data

    def _inflate(self, pieces: Iterator[bytes], limit: int) -> bytes:
        inflater = zlib.decompressobj()
        content = bytearray()
        try:
            for piece in pieces:
                content += inflater.decompress(piece, limit + 1 - len(content))
                if inflater.eof or len(content) > limit:
                    break
        except zlib.error as error:
            raise GitProblem("an object is damaged") from error
        if not inflater.eof or len(content) > limit:
            raise GitProblem("an object is cut off or larger than it says")
        return self._charged(bytes(content))

    def _charged(self, content: bytes) -> bytes:
        self._left -= len(content) + 64
        if self._left < 0:
            raise GitProblem("the history is too large to be read")
        return content

    def _all_packs(self) -> list[_Pack]:
        if self._packs is None:
            folder = b".git/objects/pack"
            names = [entry.path for entry in self._files.list(folder)]
            chosen = [name for name in names if name.endswith(b".idx")][: PACK_LIMIT + 1]
            if len(chosen) > PACK_LIMIT:
                raise GitProblem("there are too many packs")
            self._packs = [self._pack(folder + b"/" + name) for name in sorted(chosen)]
        return self._packs

    def _pack(self, path: bytes) -> _Pack:
        data = whole(self._files, path, INDEX_LIMIT) or b""
        try:
            return _Pack(path.removesuffix(b".idx") + b".pack", _pack_index(data))
        except struct.error as error:
            raise GitProblem("a pack's index is damaged") from error


def _pack_index(data: bytes) -> dict[bytes, int]:
    """Read a pack index of version 2: each object's offset in its pack."""
    if data[:8] != b"\xfftOc\0\0\0\2":
        raise GitProblem("a pack's index is of an unknown format")
    (count,) = struct.unpack_from(">I", data, 8 + 255 * 4)
    names = 8 + 256 * 4
    near = names + count * 24
    far = near + count * 4
    if far > len(data):
        raise GitProblem("a pack's index is cut off")
    offsets = {}
    for number, offset in enumerate(struct.unpack_from(f">{count}I", data, near)):
        if offset & 0x80000000:
            (offset,) = struct.unpack_from(">Q", data, far + (offset & 0x7FFFFFFF) * 8)
        offsets[data[names + number * 20 : names + number * 20 + 20]] = offset
    return offsets


def _distance(data: bytes, at: int) -> tuple[int, int]:
    byte = data[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = (value + 1) << 7 | byte & 0x7F
    return value, at + 1


def _apply(base: bytes, delta: bytes) -> bytes:
    """Apply a delta: copies out of the base and insertions."""
    try:
        expected, at = _size(delta, 0)
        size, at = _size(delta, at)
        if expected != len(base) or size > OBJECT_LIMIT:
            raise GitProblem("a pack's delta does not fit its base")
        content = bytearray()
        while at < len(delta) and len(content) <= size:
            command = delta[at]
            at += 1
            if command & 0x80:
                start, at = _number(delta, at, command, 4)
                length, at = _number(delta, at, command >> 4, 3)
                content += base[start : start + (length or 0x10000)]
            else:
                content += delta[at : at + command]
                at += command
    except IndexError as error:
        raise GitProblem("a pack's delta is cut off") from error
    if len(content) != size:
        raise GitProblem("a pack's delta does not give what it says")
    return bytes(content)


def _size(delta: bytes, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        byte = delta[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at


def _number(delta: bytes, at: int, present: int, length: int) -> tuple[int, int]:
    """Read a little-endian number of which zero bytes are left out."""
    value = 0
    for place in range(length):
        if present >> place & 1:
            value |= delta[at] << 8 * place
            at += 1
    return value, at
