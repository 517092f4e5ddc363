"""Layers of images as folders that overlayfs lays over each other.

An archive says of what a lower layer has that it is gone by files whose names begin with `.wh.`;
overlayfs by a device of numbers 0, 0, and by an attribute of a folder that hides all below it.
https://github.com/opencontainers/image-spec/blob/main/layer.md#whiteouts
https://docs.kernel.org/filesystems/overlayfs.html#whiteouts-and-opaque-directories
"""

import hashlib
import os
import posixpath
import stat
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from sandbox.container.engines.native import user_name_space
from sandbox.model.errors import ImageError

GONE = ".wh."
HIDES = ".wh..wh..opq"
CAPABILITY = "security.capability"
TAR = ("tar", "--numeric-owner", "--xattrs", "--xattrs-include=*")
DEVICES = ("--anchored", "--exclude=dev/*", "--exclude=./dev/*")
"""What nobody makes in a user name space; each container has a `/dev` of its own."""


def opaque() -> str:
    """The attribute of a folder that hides what lies below it: in a name space, the user's own."""
    return f"{'user' if user_name_space.is_within() else 'trusted'}.overlay.opaque"


def unpack(archive: IO[bytes], folder: Path) -> None:
    """Lay an archive of one layer into an empty folder; ImageError where it cannot be read."""
    left_out = DEVICES if user_name_space.is_within() else ()
    done = subprocess.run(
        [
            *TAR,
            *left_out,
            "--extract",
            "--preserve-permissions",
            "--same-owner",
            f"--directory={folder}",
        ],
        stdin=archive,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise ImageError(f"A layer cannot be unpacked: {done.stderr.decode(errors='replace')}")
    for top, _, names in os.walk(folder):
        for name in names:
            if name.startswith(GONE):
                _hide(Path(top), name)


def pack(folder: Path, target: Path) -> str:
    """Write a layer as an archive, always the same of the same files; give its SHA-256."""
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as archive:
        for path in _below(folder):
            name = path.relative_to(folder).as_posix()
            status = path.lstat()
            if stat.S_ISCHR(status.st_mode) and not status.st_rdev:
                archive.addfile(_empty(f"{posixpath.dirname(name)}/{GONE}{path.name}"))
                continue
            member = archive.gettarinfo(path, name)
            if member is None:  # a socket, which nobody can use
                continue
            member.uname = member.gname = ""
            if capability := _attribute(path, CAPABILITY):
                spelt = capability.decode("utf-8", "surrogateescape")
                member.pax_headers = {f"SCHILY.xattr.{CAPABILITY}": spelt}
            if member.isreg():
                with path.open("rb") as file:
                    archive.addfile(member, file)
            else:
                archive.addfile(member)
            if member.isdir() and _attribute(path, opaque()):
                archive.addfile(_empty(f"{name}/{HIDES}"))
    with target.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _below(folder: Path) -> Iterator[Path]:
    """Give all that a folder holds, each folder before what is in it."""
    pending = [folder]
    while pending:
        for path in sorted(pending.pop().iterdir(), key=os.fsencode):
            yield path
            if path.is_dir() and not path.is_symlink():
                pending.append(path)


def _attribute(path: Path, name: str) -> bytes:
    try:
        return os.getxattr(path, name, follow_symlinks=False)
    except OSError:
        return b""


def _empty(name: str) -> tarfile.TarInfo:
    return tarfile.TarInfo(name.lstrip("/"))


def _hide(folder: Path, name: str) -> None:
    (folder / name).unlink()
    if name == HIDES:
        os.setxattr(folder, opaque(), b"y")
    elif not name.startswith(GONE * 2):
        os.mknod(folder / name.removeprefix(GONE), stat.S_IFCHR, os.makedev(0, 0))
