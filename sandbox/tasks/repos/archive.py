"""Archives of sources (sdist, npm, Debian): regular files below one folder, read with bounds."""

import lzma
import stat
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sandbox.model.errors import RepositoryError
from sandbox.model.renaming import Renaming

_MAXIMUM_FILES = 50_000
_MAXIMUM_BYTES = 512 << 20

AS_THEY_ARE = Renaming()


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    """One file of an archive."""

    path: str
    """Relative to the archive's top folder, with slashes."""
    data: bytes
    executable: bool


def read(archive: Path, renaming: Renaming = AS_THEY_ARE) -> Iterator[ArchivedFile]:
    """Yield the files of a compressed tar archive, without its top folder, under other names.

    RepositoryError for an archive that is damaged or too large, and for a member that is a link
    or a device, leaves the folder, or belongs to git.
    """
    size = 0
    try:
        with tarfile.open(archive, "r:*") as tar:
            for count, member in enumerate(tar, 1):
                size += member.size
                if count > _MAXIMUM_FILES or size > _MAXIMUM_BYTES:
                    raise _refusal(archive, "holds more than a project's sources should")
                if member.isdir():
                    continue
                path, content = _path(archive, member), tar.extractfile(member)
                data = content.read() if content else b""
                executable = bool(member.mode & stat.S_IXUSR)
                yield ArchivedFile(renaming.text(path), renaming.data(path, data), executable)
    except (tarfile.TarError, EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        raise _refusal(archive, f"cannot be read: {error}") from error


def added(texts: Mapping[str, str], renaming: Renaming = AS_THEY_ARE) -> Iterator[ArchivedFile]:
    """Yield files that are given by their text, as if an archive held them."""
    for path, text in texts.items():
        data = renaming.data(path, text.encode())
        yield ArchivedFile(renaming.text(path), data, executable=False)


def write(file: ArchivedFile, folder: Path) -> None:
    """Write a file below a folder with mode 644 or 755."""
    target = folder / file.path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(file.data)
    target.chmod(0o755 if file.executable else 0o644)


def _path(archive: Path, member: tarfile.TarInfo) -> str:
    if not member.isreg():
        raise _refusal(archive, f"holds {member.name!r}, which is neither a file nor a folder")
    parts = PurePosixPath(member.name).parts
    if parts and parts[0] == ".":
        parts = parts[1:]
    if member.name.startswith("/") or ".." in parts or len(parts) < 2:
        raise _refusal(archive, f"holds {member.name!r}, which is not below its top folder")
    if any(part.lower() == ".git" for part in parts):
        raise _refusal(archive, f"holds {member.name!r}, which git would take for its own")
    return "/".join(parts[1:])


def _refusal(archive: Path, what: str) -> RepositoryError:
    return RepositoryError(
        f"{archive.name} {what}; no repository was made.",
        "Pin another release or another kind of source in repo.yaml.",
    )
