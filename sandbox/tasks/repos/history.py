"""Releases as upstream wrote them: committed and packed once for all tasks of a repository."""

import contextlib
import hashlib
import secrets
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from sandbox.model.artifact import Artifact
from sandbox.model.renaming import Renaming
from sandbox.model.repository import Release, Repository
from sandbox.tasks.repos.repository_builder import RepositoryBuilder


def lay(
    builder: RepositoryBuilder,
    repository: Repository,
    releases: Sequence[Release],
    files: Mapping[Artifact, Path],
    cache: Path,
) -> None:
    """Begin a repository with these releases, which are kept in `cache` for others.

    What is kept is `.git` alone, packed, the same bytes each time. OSError, RepositoryError.
    """
    if not releases:
        return
    kept = cache / _digest(repository, releases)
    if not kept.is_dir():
        _keep(repository, releases, files, kept)
    builder.resume(kept, [release.version for release in releases], releases[-1].date)


def _keep(
    repository: Repository,
    releases: Sequence[Release],
    files: Mapping[Artifact, Path],
    kept: Path,
) -> None:
    """Commit the releases in a folder beside, and put what git has of them in its place."""
    made = kept.with_name(f".{kept.name}-{secrets.token_hex(4)}")
    try:
        builder = builder_of(repository, made)
        for release in releases:
            builder.release(files[release.source], release.version, release.date)
        builder.pack(anew=True)
        with contextlib.suppress(OSError):  # somebody else has just made the same
            (made / ".git").rename(kept)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def builder_of(repository: Repository, folder: Path) -> RepositoryBuilder:
    """Begin a repository in a new folder, as its file wants it."""
    return RepositoryBuilder(
        folder,
        repository.author,
        repository.strip,
        repository.generated,
        Renaming(repository.words),
        repository.added,
    )


def _digest(repository: Repository, releases: Sequence[Release]) -> str:
    """Digest all that the history is made of, and by."""
    told = repository.model_copy(update={"releases": tuple(releases)}).model_dump_json()
    code = (path.read_text() for path in sorted(Path(__file__).parent.glob("*.py")))
    return hashlib.sha256("\0".join((told, *code)).encode()).hexdigest()[:32]
