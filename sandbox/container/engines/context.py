"""A folder as a tar archive that depends on names, contents and modes alone.

The same folder gives the same bytes on every machine: entries in byte order, one owner, one time.
"""

import os
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path

from sandbox.model.errors import ImageError

EPOCH = 946_684_800
"""2000-01-01: zip archives, hence wheels, cannot hold times before 1980."""

CHUNK = 1 << 20


def archive(folder: Path) -> Iterator[bytes]:
    """The archive piece by piece; no file is held whole. Raises `ImageError`."""
    try:
        for path in _walk(folder):
            yield from _entry(path, path.relative_to(folder).as_posix())
    except OSError as error:
        raise ImageError(
            f"The build context {folder} cannot be read: {error}.", "Build again once it can."
        ) from error
    yield bytes(2 * tarfile.BLOCKSIZE)


def _walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir(), key=os.fsencode):
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path)


def _entry(path: Path, name: str) -> Iterator[bytes]:
    status = path.lstat()
    header = tarfile.TarInfo(name)
    header.mtime = EPOCH
    header.mode = 0o755 if stat.S_ISDIR(status.st_mode) or status.st_mode & 0o100 else 0o644
    if stat.S_ISDIR(status.st_mode):
        header.type = tarfile.DIRTYPE
    elif stat.S_ISLNK(status.st_mode):
        header.type, header.linkname = tarfile.SYMTYPE, str(path.readlink())
    elif stat.S_ISREG(status.st_mode):
        header.size = status.st_size
    else:
        raise ImageError(
            f"The build context holds {path}, which is neither a file nor a folder nor a link."
        )
    yield header.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
    if header.isreg():
        yield from _content(path, header.size)


def _content(path: Path, size: int) -> Iterator[bytes]:
    left = size
    with path.open("rb") as file:
        while left:
            piece = file.read(min(CHUNK, left))
            if not piece:
                raise ImageError(f"{path} shrank while it was read.", "Build again.")
            left -= len(piece)
            yield piece
    yield bytes(-size % tarfile.BLOCKSIZE)
