"""An overlay's directories on this host, read without following a link.

A layer is reached through a descriptor of its top and relative paths. Names are an agent's, so
they may be deeper than one path that the kernel takes; such a path is opened piece by piece.

Format: https://docs.kernel.org/filesystems/overlayfs.html (whiteouts, opaque, redirects).
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from sandbox.container.changes.difference import PATH_LIMIT, Status
from sandbox.container.engines.folder_walk import entries_below
from sandbox.model.errors import EvidenceError
from sandbox.model.session import FileKind

FOLDER_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_DIRECTORY
FILE_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK

OPAQUE = ("trusted.overlay.opaque", "user.overlay.opaque")
FOREIGN = frozenset(("trusted.overlay.redirect", "user.overlay.redirect"))
"""Attributes that make a folder mean another one; Docker mounts without them."""

LISTS = frozenset(("system.posix_acl_access", "system.posix_acl_default"))
"""Attributes that hold access control lists (acl(5))."""

FORMAT, BITS = 0o170000, 0o7777

_KINDS = {
    stat.S_IFREG: FileKind.FILE,
    stat.S_IFDIR: FileKind.DIRECTORY,
    stat.S_IFLNK: FileKind.SYMLINK,
    stat.S_IFSOCK: FileKind.SOCKET,
    stat.S_IFIFO: FileKind.FIFO,
    stat.S_IFCHR: FileKind.CHARACTER_DEVICE,
    stat.S_IFBLK: FileKind.BLOCK_DEVICE,
}


class Layer:
    """One directory of an overlay. Paths are relative and without a slash at either end."""

    def __init__(self, top: Path) -> None:
        self._top = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.close(self._top)

    def stat(self, path: bytes) -> os.stat_result | None:
        """Look at one entry; None where there is none."""
        try:
            if len(path) <= PATH_LIMIT:
                return os.stat(path, dir_fd=self._top, follow_symlinks=False)
            with self._near(path) as (folder, name):
                return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def names(self, path: bytes) -> list[bytes]:
        """Give the names that a directory holds; the empty path is the layer's top."""
        with self._folder(path) as (folder, _), os.scandir(folder) as entries:
            return [os.fsencode(each.name) for each in entries]

    def opaque(self, path: bytes) -> bool:
        """Whether a directory hides what lies below it in lower layers."""
        with self._folder(path) as (_, opaque):
            return opaque

    @contextmanager
    def entries(self, path: bytes) -> Iterator[tuple[Iterator[os.DirEntry[str]], bool]]:
        """Give what a directory holds, one after the other, and whether it is opaque."""
        with self._folder(path) as (folder, opaque), os.scandir(folder) as entries:
            yield entries, opaque

    def count(self, path: bytes) -> int:
        """Say how many entries are below a directory, however deep, in little memory."""
        with self._folder(path) as (folder, _):
            return sum(1 for _ in entries_below(folder))

    @contextmanager
    def _folder(self, path: bytes) -> Iterator[tuple[int, bool]]:
        folder = self._open(path or b".", FOLDER_FLAGS)
        try:
            attributes = os.listxattr(folder)
            if attributes and FOREIGN.intersection(attributes):
                raise _foreign(path)
            opaque = any(
                name in attributes and os.getxattr(folder, name) == b"y" for name in OPAQUE
            )
            yield folder, opaque
        finally:
            os.close(folder)

    def target(self, path: bytes) -> bytes:
        """Read where a symbolic link points."""
        with self._near(path) as (folder, name):
            return os.readlink(name, dir_fd=folder)

    def rights(self, path: bytes) -> str:
        """Give the access control list of a file or a directory, and the one that it hands on."""
        place = self._open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            found = f"/proc/self/fd/{place}"
            kept = LISTS.intersection(os.listxattr(found))
            return "".join(os.getxattr(found, name).hex() for name in sorted(kept))
        except OSError as error:
            if error.errno in (errno.ENOTSUP, errno.ENODATA):
                return ""
            raise
        finally:
            os.close(place)

    def open(self, path: bytes) -> int:
        """Open a regular file for reading; the caller closes the descriptor."""
        return self._open(path, FILE_FLAGS)

    def _open(self, path: bytes, flags: int) -> int:
        if len(path) <= PATH_LIMIT:
            return os.open(path, flags, dir_fd=self._top)
        with self._near(path) as (folder, name):
            return os.open(name, flags, dir_fd=folder)

    @contextmanager
    def _near(self, path: bytes) -> Iterator[tuple[int, bytes]]:
        """Give a directory and a path below it that is short enough."""
        folder = self._top
        try:
            while len(path) > PATH_LIMIT:
                cut = path.rindex(b"/", 0, PATH_LIMIT)
                deeper = os.open(
                    path[:cut], os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder
                )
                if folder != self._top:
                    os.close(folder)
                folder, path = deeper, path[cut + 1 :]
            yield folder, path
        finally:
            if folder != self._top:
                os.close(folder)


def whiteout(found: os.stat_result) -> bool:
    """Whether an entry only says that what lies below it is gone."""
    return found.st_mode & FORMAT == stat.S_IFCHR and found.st_rdev == 0


def status_of(path: bytes, layer: Layer, found: os.stat_result) -> Status:
    """Describe what a layer holds at a path as the container sees it."""
    mode = found.st_mode
    if mode & FORMAT == stat.S_IFREG:
        return Status(
            FileKind.FILE,
            mode & BITS,
            found.st_uid,
            found.st_gid,
            found.st_size,
            links=found.st_nlink,
            rights=layer.rights(path),
        )
    kind = _KINDS[mode & FORMAT]
    target = layer.target(path) if kind is FileKind.SYMLINK else None
    rights = layer.rights(path) if kind is FileKind.DIRECTORY else ""
    return Status(kind, mode & BITS, found.st_uid, found.st_gid, 0, target, rights=rights)


def _foreign(path: bytes) -> EvidenceError:
    return EvidenceError(
        f"The overlay holds a redirect at {path!r}, which this engine should not make; what changed"
        " there cannot be read from the directory.",
        "Run again with the kernel's overlay parameter redirect_dir off.",
    )
