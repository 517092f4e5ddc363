"""Foreign folders, read without following anything out of them."""

import hashlib
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox.model.errors import DocumentError

MOST_FILES, MOST_BYTES, MOST_LEVELS = 5_000, 256 << 20, 64


@dataclass(frozen=True, slots=True)
class File:
    """A regular file."""

    content: bytes
    executable: bool


Files = dict[str, File]
"""By path below the folder, with slashes."""


def read(folder: Path) -> tuple[Files, tuple[str, ...]]:
    """Read all files below a folder, and the names of what is none.

    Symbolic links are neither followed nor kept, nor is what is not a file. DocumentError for a
    folder that has more than a task should.
    """
    found: Files = {}
    odd: list[str] = []
    left = MOST_BYTES
    try:
        for path, regular in _walk(folder):
            if not regular:
                odd.append(path.relative_to(folder).as_posix())
                continue
            content = path.read_bytes() if path.stat().st_size <= left else None
            if content is None or len(found) == MOST_FILES:
                raise DocumentError(
                    f"{folder} holds more than {MOST_FILES} files or {MOST_BYTES} bytes.",
                    "Leave it out; nothing of it was imported.",
                )
            left -= len(content)
            executable = bool(path.stat().st_mode & stat.S_IXUSR)
            found[path.relative_to(folder).as_posix()] = File(content, executable)
    except OSError as error:
        raise DocumentError(
            f"{error.filename or folder}: cannot be read: {error.strerror}.",
            "Check the path and its permissions.",
        ) from error
    return found, tuple(odd)


def _walk(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Yield all that is no folder, and whether it is a regular file."""
    waiting = [(folder, 0)]
    while waiting:
        place, level = waiting.pop()
        if level > MOST_LEVELS:
            raise DocumentError(
                f"{folder} holds more than {MOST_LEVELS} levels of folders.",
                "Leave it out; nothing of it was imported.",
            )
        for path in sorted(place.iterdir()):
            if path.is_dir() and not path.is_symlink():
                waiting.append((path, level + 1))
            else:
                yield path, path.is_file() and not path.is_symlink()


def below(files: Files, folder: str) -> Files:
    """Give the files of a folder, by their paths in it."""
    start = f"{folder}/"
    return {
        path.removeprefix(start): file for path, file in files.items() if path.startswith(start)
    }


def digest(files: Files) -> str:
    """SHA-256 over names, modes and contents, as hexadecimal."""
    whole = hashlib.sha256()
    for path, file in sorted(files.items()):
        content = hashlib.sha256(file.content).hexdigest()
        whole.update(f"{path}\0{file.executable:d}\0{content}\n".encode(errors="surrogateescape"))
    return whole.hexdigest()


def lay(files: Files, folder: Path) -> None:
    """Write files below a folder with mode 644 or 755."""
    for path, file in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.content)
        place.chmod(0o755 if file.executable else 0o644)
