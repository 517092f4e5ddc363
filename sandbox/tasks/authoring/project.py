"""What is found of a project: its releases as files, and what they say of themselves."""

import tarfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sandbox.model.artifact import ArtifactKind
from sandbox.model.errors import SourceError

UNKNOWN = "unknown"
_FIRST = datetime(1995, 1, 1, tzinfo=UTC)
"""No registry is older: an earlier date is a constant that a build tool has put in."""


@dataclass(frozen=True, slots=True)
class ReleaseFile:
    """A release that has been fetched, not yet pinned."""

    version: str
    path: Path
    date: datetime


@dataclass(frozen=True, slots=True)
class Project:
    """A project's releases, from old to new."""

    name: str
    kind: ArtifactKind
    releases: tuple[ReleaseFile, ...]
    summary: str = UNKNOWN
    license: str = UNKNOWN
    home: str = UNKNOWN
    suite: str | None = None
    notes: Sequence[str] = field(default=())
    """What the author should know, a sentence each."""


def packed(path: Path) -> datetime:
    """Tell when an archive was made: the time of its newest file; 1995 where none is of later."""
    try:
        with tarfile.open(path, "r:*") as archive:
            newest = max((member.mtime for member in archive if member.isfile()), default=0)
    except (tarfile.TarError, OSError, EOFError) as error:
        raise SourceError(
            f"{path.name} is not an archive that can be read: {error}", "Choose other releases."
        ) from error
    return max(_FIRST, datetime.fromtimestamp(int(newest), UTC))


def in_order(releases: Sequence[ReleaseFile]) -> tuple[ReleaseFile, ...]:
    """Make dates rise with the releases, which stand from old to new, where they do not."""
    found: list[ReleaseFile] = []
    for release in releases:
        earliest = found[-1].date + timedelta(days=1) if found else release.date
        date = release.date if not found or release.date > found[-1].date else earliest
        found.append(ReleaseFile(release.version, release.path, date))
    return tuple(found)
