"""Names of the files in a release that has been fetched, kept so that it is listed once."""

import lzma
import tarfile
import zlib
from pathlib import Path

from sandbox.model.artifact import Artifact
from sandbox.model.run_folder import write_whole
from sandbox.tasks.sources.cache import Sources

FOLDER = "listings"
"""Below the cache."""
MOST = 50_000
"""Files of a release that are listed."""


def names(cache: Path, source: Artifact) -> frozenset[str]:
    """Give the paths of its files, without the archive's top folder; none where it is not there."""
    kept = cache / FOLDER / source.sha256
    try:
        return frozenset(kept.read_text(encoding="utf-8").split("\n"))
    except (OSError, UnicodeDecodeError):
        pass
    archive = Sources(cache).path(source)
    found: list[str] = []
    try:
        with tarfile.open(archive, "r:*") as tar:
            for member in tar:
                if member.isreg() and len(found) < MOST:
                    found.append(member.name.removeprefix("./").partition("/")[2])
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, "\n".join(found).encode())
    except (OSError, EOFError, tarfile.TarError, lzma.LZMAError, zlib.error, UnicodeEncodeError):
        return frozenset()  # what is wrong with an archive is told where an image is made of it
    return frozenset(found)
