"""Releases of a git repository, a folder or a bundle: its tags, and the commit that is wanted."""

import gzip
import re
from datetime import datetime
from pathlib import Path

from sandbox.model.artifact import ArtifactKind
from sandbox.model.errors import UsageError
from sandbox.tasks.authoring.origin import Origin
from sandbox.tasks.authoring.project import Project, ReleaseFile, in_order
from sandbox.tasks.repos.git_commands import CommandError, Git

_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]*")
_SHORT = 12


def found(origin: Origin, name: str, count: int, folder: Path) -> Project:
    """Archive the commit and the newest tags before it, `count` releases at most.

    UsageError where it is not a repository, or has no such commit.
    """
    place = Path(origin.name).expanduser().absolute()
    git = Git(folder / "history")
    git.folder.mkdir()
    try:
        git.run("init", "--quiet")
        git.run("fetch", "--quiet", "--tags", str(place), "+refs/heads/*:refs/upstream/*")
        commit = _commit(git, place, origin.at)
        tags = _tags(git, commit)
        if commit not in dict(tags).values():
            tags.append((commit[:_SHORT], commit))
        releases = [_archived(git, name, *tag, folder) for tag in tags[-count:]]
    except CommandError as error:
        raise UsageError(
            f"{place} has no commit {origin.at or 'HEAD'} that can be read: {error}",
            "Name a folder with a git repository or a bundle, and a commit, tag or branch of it.",
        ) from error
    return Project(name, ArtifactKind.FILE, in_order(releases))


def _commit(git: Git, place: Path, wanted: str | None) -> str:
    if wanted is None:
        git.run("fetch", "--quiet", str(place), "HEAD")
        return git.run("rev-parse", "FETCH_HEAD")
    try:
        return git.run("rev-parse", "--verify", "--quiet", f"{wanted}^{{commit}}")
    except CommandError:
        return git.run("rev-parse", "--verify", f"refs/upstream/{wanted}^{{commit}}")


def _tags(git: Git, commit: str) -> list[tuple[str, str]]:
    """Give the tags that lead to a commit with their commits, old to new, one for each commit."""
    form = "--format=%(refname:short) %(objectname) %(*objectname)"
    told = git.run("for-each-ref", f"--merged={commit}", "--sort=creatordate", form, "refs/tags")
    words = (line.split() for line in told.splitlines())
    by_commit = {each[-1]: each[0] for each in words if _VERSION.fullmatch(each[0])}
    return [(tag, at) for at, tag in by_commit.items()]


def _archived(git: Git, name: str, version: str, commit: str, folder: Path) -> ReleaseFile:
    """Write a commit's files, packed without a time: the same commit gives the same bytes."""
    plain = folder / f"{name}-{version}.tar"
    git.run("archive", f"--prefix={name}-{version}/", f"--output={plain.absolute()}", commit)
    path = folder / f"{plain.name}.gz"
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
        file.write(plain.read_bytes())
    plain.unlink()
    date = git.run("show", "--no-patch", "--format=%cI", commit)
    return ReleaseFile(version, path, datetime.fromisoformat(date))
