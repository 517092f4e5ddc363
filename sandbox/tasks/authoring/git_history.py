"""Releases of a git repository, a folder or a bundle: its tags, and the commit that is wanted."""

import gzip
import re
import shutil
import tarfile
from datetime import UTC, datetime
from pathlib import Path

from sandbox.model.artifact import ArtifactKind
from sandbox.model.errors import UsageError
from sandbox.model.listing import some
from sandbox.tasks.authoring.bounded_git import BoundedGit
from sandbox.tasks.authoring.origin import Origin
from sandbox.tasks.authoring.project import Project, ReleaseFile, in_order
from sandbox.tasks.repos.git_commands import CommandError, Git

_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]*")
_SHORT = 12
_LATEST = 4_102_444_800
"""Seconds since 1970, in the year 2100: a later date is a mistake."""
_SHOWN = 3
_WHOLE = "* -export-ignore -export-subst -text -ident -filter -working-tree-encoding\n"
"""A release leaves out what its project has marked so; a checkout has all of it, as it is."""


def found(origin: Origin, name: str, count: int, folder: Path) -> Project:
    """Archive the commit and the newest tags before it, `count` releases at most.

    UsageError where it is not a repository, or has no such commit.
    """
    place = Path(origin.name).expanduser().absolute()
    git = BoundedGit(folder / "history")
    git.folder.mkdir()
    try:
        git.run("init", "--quiet")
        (git.directory / "info").mkdir(exist_ok=True)
        (git.directory / "info" / "attributes").write_text(_WHOLE)
        _borrow(git, place)
        git.run("fetch", "--quiet", "--tags", str(place), "+refs/heads/*:refs/upstream/*")
        commit = _commit(git, place, origin.at)
        tags = _tags(git, commit)
        if commit not in dict(tags).values():
            tags.append((commit[:_SHORT], commit))
        releases = [_archived(git, name, *tag, folder) for tag in tags[-count:]]
    except CommandError as error:
        if any((place / each).is_file() for each in (".git/shallow", "shallow")):
            raise UsageError(
                f"{place} is a shallow clone, which lacks {origin.at or 'HEAD'}: {error}",
                "Fetch the rest of it: git fetch --unshallow.",
            ) from error
        raise UsageError(
            f"{place} has no commit {origin.at or 'HEAD'} that can be read: {error}",
            "Name a folder with a git repository or a bundle, and a commit, tag or branch of it.",
        ) from error
    links = list(dict.fromkeys(link for release in releases for link in _without_links(release)))
    told = f"Symbolic links were left out, a release holds none: {some(links, _SHOWN)}."
    return Project(name, ArtifactKind.FILE, in_order(releases), notes=(told,) if links else ())


def _borrow(git: Git, place: Path) -> None:
    """Read a folder's objects where they lie: only refs are fetched then, and nothing is copied."""
    found = (place / each for each in (".git/objects", "objects"))
    if (objects := next((each for each in found if each.is_dir()), None)) is not None:
        alternates = git.directory / "objects" / "info" / "alternates"
        alternates.write_text(f"{objects}\n")


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
    _packed(plain, path)
    plain.unlink()
    told = git.run("show", "--no-patch", "--format=%ct", commit)
    seconds = int(told) if re.fullmatch(r"[0-9]{1,10}", told) else 0
    return ReleaseFile(version, path, datetime.fromtimestamp(min(seconds, _LATEST), UTC))


def _packed(plain: Path, path: Path) -> None:
    with (
        path.open("wb") as raw,
        gzip.GzipFile("", "wb", 9, raw, mtime=0) as file,
        plain.open("rb") as archived,
    ):
        shutil.copyfileobj(archived, file)


def _without_links(release: ReleaseFile) -> list[str]:
    """Pack a release anew without its symbolic links, where it has some; say which."""
    with tarfile.open(release.path, "r:gz") as old:
        members = old.getmembers()
        links = [member.name.partition("/")[2] for member in members if member.issym()]
        if not links:
            return []
        plain = release.path.with_suffix("")
        with tarfile.open(plain, "w", format=tarfile.PAX_FORMAT) as new:
            for member in members:
                if not member.issym():
                    new.addfile(member, old.extractfile(member) if member.isreg() else None)
    _packed(plain, release.path)
    plain.unlink()
    return links
