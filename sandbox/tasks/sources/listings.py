"""Names and texts of files in a release that has been fetched, kept so that it is read once."""

import hashlib
import itertools
import lzma
import tarfile
import zlib
from collections.abc import Iterator, Set
from contextlib import suppress
from pathlib import Path

from sandbox.model.artifact import Artifact
from sandbox.model.run_folder import write_whole
from sandbox.tasks.sources.cache import Sources

FOLDER = "listings"
"""Below the cache."""
MOST = 50_000
"""Files of a release that are listed."""
LONGEST = 1_000_000
"""Bytes of a text that is kept."""
DAMAGED = (OSError, EOFError, tarfile.TarError, lzma.LZMAError, zlib.error, UnicodeError)
"""What is wrong with an archive is told where an image is made of it."""


def names(cache: Path, source: Artifact) -> frozenset[str]:
    """Give the paths of its files, without the archive's top folder; none where it is not there."""
    kept = cache / FOLDER / source.sha256
    with suppress(OSError, UnicodeError):
        return frozenset(kept.read_text(encoding="utf-8").split("\n"))
    with suppress(*DAMAGED), _opened(cache, source) as tar:
        found = [path for path, _ in itertools.islice(_files(tar), MOST)]
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, "\n".join(found).encode())
        return frozenset(found)
    return frozenset()


def texts(cache: Path, source: Artifact, wanted: Set[str]) -> dict[str, str]:
    """Give what some of its files hold, by path; without what is not there or is too large."""
    folder = cache / FOLDER / f"{source.sha256}.texts"
    kept = {path: folder / hashlib.sha256(path.encode()).hexdigest() for path in wanted}
    with suppress(*DAMAGED):
        missing = {path for path, file in kept.items() if not file.exists()}
        if missing:
            _keep(cache, source, {path: kept[path] for path in missing})
        found = {path: file.read_text("utf-8", "replace") for path, file in kept.items()}
        return {path: text for path, text in found.items() if text}
    return {}


def _keep(cache: Path, source: Artifact, wanted: dict[str, Path]) -> None:
    """Write each file's text, and nothing for what the archive does not have."""
    texts = dict.fromkeys(wanted, b"")
    with _opened(cache, source) as tar:
        for path, member in _files(tar):
            if path in wanted and member.size <= LONGEST and (file := tar.extractfile(member)):
                texts[path] = file.read()
    for path, text in texts.items():
        wanted[path].parent.mkdir(parents=True, exist_ok=True)
        write_whole(wanted[path], text)


def _opened(cache: Path, source: Artifact) -> tarfile.TarFile:
    return tarfile.open(Sources(cache).path(source), "r:*")


def _files(tar: tarfile.TarFile) -> Iterator[tuple[str, tarfile.TarInfo]]:
    for member in tar:
        if member.isreg():
            yield member.name.removeprefix("./").partition("/")[2], member
