"""Foreign folders, read without following anything out of them."""

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox.model.errors import DocumentError

MOST_FILES, MOST_BYTES = 5_000, 256 << 20


@dataclass(frozen=True, slots=True)
class File:
    """A regular file."""

    content: bytes
    executable: bool


Files = dict[str, File]
"""By path below the folder, with slashes."""


def read(folder: Path) -> Files:
    """Read all files below a folder; DocumentError for one that has more than a task should.

    Symbolic links are neither followed nor kept.
    """
    found: Files = {}
    left = MOST_BYTES
    try:
        for path in _walk(folder):
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
    return found


def _walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_symlink():
            continue
        if path.is_dir():
            yield from _walk(path)
        elif path.is_file():
            yield path


def below(files: Files, folder: str) -> Files:
    """Give the files of a folder, by their paths in it."""
    start = f"{folder}/"
    return {
        path.removeprefix(start): file for path, file in files.items() if path.startswith(start)
    }


def lay(files: Files, folder: Path) -> None:
    """Write files below a folder with mode 644 or 755."""
    for path, file in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.content)
        place.chmod(0o755 if file.executable else 0o644)
