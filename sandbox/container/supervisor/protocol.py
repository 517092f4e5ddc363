"""Frames of the supervisor's wire protocol, version 1: docs/supervisor-protocol.md.

The numbers are those of `source/protocol.h`; a test compares them.
"""

import struct
from collections.abc import Iterable, Iterator
from enum import IntEnum, IntFlag

from sandbox.model.errors import ProtocolError
from sandbox.model.session import FileEntry, FileKind, Greeting

PROTOCOL_VERSION = 1
FRAME_HEADER = 9
FRAME_LIMIT = 4_194_304
"""The largest value of the length field, which counts type and request id too."""
CHUNK = 65_536
STDIN_WINDOW = 262_144
STREAM_WINDOW = 65_536
"""Bytes that may be under way on a connection of a listener, each way."""
RECORD_SIZE = 80


class Request(IntEnum):
    """What the host asks."""

    RUN = 1
    STDIN = 2
    KILL = 3
    READ = 4
    WRITE = 5
    WRITE_DATA = 6
    REMOVE = 7
    STAT = 8
    LIST = 9
    MANIFEST = 10
    KILL_ALL = 11
    USAGE = 12
    ANSWER_EXEC = 13
    FREEZE = 14
    THAW = 15
    LISTEN = 16
    UNLISTEN = 17
    STREAM_DATA = 18
    STREAM_TAKEN = 19
    STREAM_CLOSE = 20
    WATCH = 21
    SETTLE = 22


class Reply(IntEnum):
    """What the supervisor says."""

    GREETING = 128
    STARTED = 129
    STDOUT = 130
    STDERR = 131
    STDIN_TAKEN = 132
    ENDED = 133
    DATA = 134
    OK = 135
    ERROR = 136
    FAULT = 137
    EXEC_SEEN = 138
    EXEC_HELD = 139
    EXEC_ENDED = 140
    EXEC_COUNT = 141
    LISTENING = 142
    ACCEPTED = 143
    RECEIVED = 144
    DELIVERED = 145
    CLOSED = 146
    TOUCHED = 147


class Run(IntFlag):
    """Flags of a run request."""

    KILL_SURVIVORS = 1
    ANNOUNCE = 2
    EXEC_LOG = 4
    EXEC_HOLD = 8
    ROOT = 16


class Ended(IntFlag):
    """Flags of the reply to a run."""

    TIMED_OUT = 1
    KILLED = 2
    OUT_OF_MEMORY = 4


class File(IntFlag):
    """Flags of requests about single files."""

    FOLLOW = 1
    PARENTS = 2
    KEEP_MODE = 4


class Manifest(IntFlag):
    """Flags of a manifest request."""

    DIGEST = 1
    SINCE = 2


class Touched(IntEnum):
    """What has happened to a watched path."""

    FILE = 0
    GONE = 1
    READ = 2
    LOST = 3


class Execution(IntFlag):
    """Flags of an exec."""

    TRUNCATED = 1
    AT = 2
    FIRST = 4
    PRIVILEGED = 8
    VARIABLES_CUT = 16


class Outcome(IntEnum):
    """What became of an exec."""

    EXITED = 0
    UNKNOWN = 1
    REPLACED = 2
    FAILED = 3
    REFUSED = 4
    MISMATCH = 5
    GONE = 6


HEADER = struct.Struct("<IBI")
ENDED = struct.Struct("<IIIIQQQQQQ")
"""exit code, signal, flags, survivors, stdout, stderr, then duration, user and system time in
microseconds, peak in bytes."""
USAGE = struct.Struct("<QQQI")
"""memory peak, CPU time in microseconds, out-of-memory kills, processes."""
EXEC = struct.Struct("<QIIIIII")
"""number, flags, errno, process, parent, uid, count of arguments; the strings follow."""
EXEC_ENDED = struct.Struct("<QIIIQ")
"""number, outcome, exit code, signal, duration in microseconds."""
EXEC_COUNT = struct.Struct("<QQI")
"""seen, not told, whether there will be no more."""
TOUCHED = struct.Struct("<IIQ32s")
"""what, mode, SHA-256; the path and the beginning of a small file follow."""
RECORD = struct.Struct("<HHIIIQqqQ32s")
"""mode, problem, uid, gid, links, size, mtime, ctime, inode, SHA-256."""
UNKNOWN = (1 << 64) - 1
NO_EXIT_CODE = (1 << 32) - 1
NO_DIGEST = bytes(32)

KINDS = {
    0o100000: FileKind.FILE,
    0o040000: FileKind.DIRECTORY,
    0o120000: FileKind.SYMLINK,
    0o140000: FileKind.SOCKET,
    0o010000: FileKind.FIFO,
    0o020000: FileKind.CHARACTER_DEVICE,
    0o060000: FileKind.BLOCK_DEVICE,
}


def frame(kind: Request, request: int, payload: bytes = b"") -> bytes:
    """A whole frame; ValueError where it is larger than the protocol allows."""
    length = len(payload) + FRAME_HEADER - 4
    if length > FRAME_LIMIT:
        raise ValueError(f"a frame of {length} bytes; at most {FRAME_LIMIT} are allowed")
    return HEADER.pack(length, kind, request) + payload


def encode(text: str | bytes) -> bytes:
    """A path or an argument as the container's kernel takes it."""
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def string(text: str | bytes) -> bytes:
    """A string as the protocol writes it."""
    data = encode(text)
    return len(data).to_bytes(4, "little") + data


def strings(texts: Iterable[str | bytes]) -> bytes:
    """A counted list of strings."""
    parts = [string(text) for text in texts]
    return len(parts).to_bytes(4, "little") + b"".join(parts)


class FrameReader:
    """Cuts a stream into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[Reply, int, bytes]]:
        """Type, request id and payload of each frame that is now complete.

        ProtocolError for a length or a type that does not exist.
        """
        buffer = self._buffer
        buffer += data
        at = 0
        try:
            while len(buffer) - at >= FRAME_HEADER:
                length, kind, request = HEADER.unpack_from(buffer, at)
                if not FRAME_HEADER - 4 <= length <= FRAME_LIMIT:
                    raise ProtocolError(f"The supervisor sent a frame of {length} bytes.")
                end = at + 4 + length
                if end > len(buffer):
                    break
                yield _reply(kind), request, bytes(memoryview(buffer)[at + FRAME_HEADER : end])
                at = end
        finally:
            del buffer[:at]


def _reply(kind: int) -> Reply:
    try:
        return Reply(kind)
    except ValueError:
        raise ProtocolError(f"The supervisor sent a frame of unknown type {kind}.") from None


class Cursor:
    """Reads numbers and strings from a payload; ProtocolError where it is too short."""

    def __init__(self, payload: bytes) -> None:
        self._payload = payload
        self._at = 0

    def u32(self) -> int:
        """The next number."""
        return int.from_bytes(self._take(4), "little")

    def string(self) -> bytes:
        """The next string."""
        return self._take(self.u32())

    def _take(self, length: int) -> bytes:
        start, self._at = self._at, self._at + length
        if self._at > len(self._payload):
            raise ProtocolError("The supervisor sent a frame that is too short.")
        return self._payload[start : self._at]


def unpack(layout: struct.Struct, payload: bytes) -> tuple[int, ...]:
    """The numbers of a fixed payload; ProtocolError for another size."""
    if len(payload) != layout.size:
        raise ProtocolError(f"The supervisor sent {len(payload)} bytes for {layout.size}.")
    return layout.unpack(payload)


def greeting(payload: bytes) -> Greeting:
    """What a greeting says."""
    cursor = Cursor(payload)
    protocol = cursor.u32()
    architecture, kernel = cursor.string().decode(), cursor.string().decode()
    features = frozenset(cursor.string().decode() for _ in range(cursor.u32()))
    return Greeting(protocol, architecture, kernel, features)


def entries(payload: bytes) -> dict[bytes, bytes]:
    """A batch of entries: path to opaque record.

    The payload holds a count, the length of the names, for each entry its path and its target,
    both ended by NUL, and then a fixed record for each. A record of the result is the fixed part
    followed by the target.
    """
    cursor = Cursor(payload)
    count, length = cursor.u32(), cursor.u32()
    if len(payload) != 8 + length + count * RECORD_SIZE:
        raise ProtocolError("The supervisor sent a batch of entries of a wrong size.")
    names = payload[8 : 8 + length].split(b"\0")
    if len(names) != 2 * count + 1:
        raise ProtocolError("The supervisor sent a batch of entries with a wrong count.")
    records = payload[8 + length :]
    starts = range(0, count * RECORD_SIZE, RECORD_SIZE)
    return {
        path: records[start : start + RECORD_SIZE] + target
        for path, target, start in zip(names[0:-1:2], names[1::2], starts, strict=True)
    }


def entry(path: bytes, record: bytes) -> FileEntry:
    """What a record says; ProtocolError where it is none."""
    if len(record) < RECORD_SIZE:
        raise ProtocolError("A record of a file is too short.")
    mode, problem, uid, gid, links, size, mtime, ctime, inode, digest = RECORD.unpack_from(record)
    kind = KINDS.get(mode & 0o170000)
    if kind is None:
        raise ProtocolError(f"A file is of the unknown kind {mode:o}.")
    return FileEntry(
        path=path,
        kind=kind,
        mode=mode & 0o7777,
        uid=uid,
        gid=gid,
        size=size,
        mtime_ns=mtime,
        ctime_ns=ctime,
        inode=inode,
        links=links,
        target=record[RECORD_SIZE:],
        digest="" if digest == NO_DIGEST else digest.hex(),
        problem=problem,
    )
