"""Releases, overlays and work in progress, made into one repository.

The same calls give the same commits, the same index and the same pack, byte for byte with one
version of git. Nothing of this machine gets in: no configuration, template, reflog, path or time.
"""

import os
import shutil
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from sandbox.model.errors import RepositoryError
from sandbox.model.glob import Globs
from sandbox.model.renaming import Renaming
from sandbox.model.repository import Person
from sandbox.tasks.repos import archive as archives
from sandbox.tasks.repos.git_commands import CommandError, Git

BRANCH = "main"
STASH = "refs/stash"
_CONFIGURATION = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
"""


@dataclass(frozen=True, slots=True)
class BuiltRepository:
    """A finished repository with its worktree."""

    folder: Path
    head: str
    """Commit id of HEAD, which is on the branch `main`."""
    tags: dict[str, str]
    """Commit id of each release by its version, from old to new."""
    modified: datetime
    """The date of HEAD, which all files carry."""


@dataclass(slots=True)
class RepositoryBuilder:
    """Makes a repository in a new folder. First commits, then work in progress, then `finish`."""

    folder: Path
    author: Person
    strip: Sequence[str] = ()
    """Globs of files that an archive holds and a checkout does not."""
    generated: Sequence[str] = ()
    """Globs of files that are never committed; the last release's stand in the worktree."""
    renaming: Renaming = archives.AS_THEY_ARE
    """What upstream's names become; globs and patches have the new ones."""
    added: Mapping[str, str] = field(default_factory=dict)
    """Text of files, by path, that each release has besides."""
    _git: Git = field(init=False)
    _tags: dict[str, str] = field(init=False, default_factory=dict)
    _generated_files: list[archives.ArchivedFile] = field(init=False, default_factory=list)
    _date: datetime | None = field(init=False, default=None)
    _in_progress: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        if self.folder.exists() and any(self.folder.iterdir()):
            raise RepositoryError(f"{self.folder} is not empty.", "Build into a new folder.")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._git = Git(self.folder)
        self._run("init", "--quiet", f"--initial-branch={BRANCH}")

    def release(self, archive: Path, version: str, date: str, patches: Iterable[Path] = ()) -> None:
        """Commit and tag a release's archive, each patch applied to it first."""
        self._check_no_work_in_progress()
        stripped, generated = Globs(self.strip), Globs(self.generated)
        self._clear_worktree()
        self._generated_files.clear()
        for file in archives.read(archive, self.renaming):
            if generated.match(file.path):
                self._generated_files.append(file)
            elif not stripped.match(file.path):
                archives.write(file, self.folder)
        for file in archives.added(self.added, self.renaming):
            archives.write(file, self.folder)
        for patch in patches:
            self._apply(patch, f"release {version}")
        self._commit(f"Release {version}", date, "--allow-empty")
        self._run("tag", version)
        self._tags[version] = self._run("rev-parse", "HEAD")

    def resume(self, directory: Path, versions: Iterable[str], date: str) -> None:
        """Go on from what git has of releases that were committed before; `date` is the last's."""
        shutil.rmtree(self._git.directory)
        shutil.copytree(directory, self._git.directory)
        self._tags = {
            version: self._run("rev-parse", f"refs/tags/{version}") for version in versions
        }
        self._date = _moment(date)

    def weave(self, releases: Iterable[tuple[str, str, Sequence[Path]]]) -> None:
        """Commit the releases that are there once more, from the first that has patches on.

        All of them from the oldest on, each by version, date and patches; files are not written.
        """
        parent: list[str] = []
        woven = False
        for version, date, patches in releases:
            woven = woven or bool(patches)
            if woven:
                self._date = _moment(date)
                self._run("read-tree", self._tags[version])
                for patch in patches:
                    self._apply(patch, f"release {version}", "--cached")
                tree, message = self._run("write-tree"), f"Release {version}"
                commit = ("commit-tree", tree, *parent, "-m", message)
                self._tags[version] = self._run(*commit, environment=self._identity())
                self._run("tag", "--force", version, self._tags[version])
                self._run("update-ref", f"refs/heads/{BRANCH}", self._tags[version])
            parent = ["-p", self._tags[version]]

    def pack(self, *, anew: bool = False) -> None:
        """Put all objects into one pack; what was packed before stays as it was unless `anew`."""
        self._run("pack-refs", "--all", "--prune")
        self._run("repack", "-a", "-d", "-q", "-n", *(("-F",) if anew else ()))
        self._run("prune", "--expire=now")

    def overlay(self, folder: Path, message: str, date: str) -> None:
        """Lay a folder's files over the worktree and commit them."""
        self._check_no_work_in_progress()
        _copy_files(folder, self.folder)
        self._commit(message, date)

    def hooks(self, folder: Path) -> None:
        """Install a folder's files as hooks."""
        for path in _copy_files(folder, self._git.directory / "hooks"):
            path.chmod(0o755)

    def stash(self, patch: Path) -> None:
        """Put a patch away as the stash's one entry; the worktree stays as it was."""
        self._in_progress = True
        self._apply(patch, "the worktree")
        self._run("stash", "push", "--quiet", environment=self._identity())

    def stage(self, patch: Path) -> None:
        """Apply a patch to the worktree and the index."""
        self._in_progress = True
        self._apply(patch, "the index", "--index")

    def edit(self, patch: Path) -> None:
        """Apply a patch to the worktree alone."""
        self._in_progress = True
        self._apply(patch, "the worktree")

    def untracked(self, folder: Path) -> None:
        """Copy a folder's files into the worktree; none may be there already."""
        self._in_progress = True
        _copy_files(folder, self.folder, replace=False)

    def finish(self) -> BuiltRepository:
        """Lay out generated files, pack everything, remove what building left behind."""
        if self._date is None:
            raise RepositoryError("A repository needs at least one commit.", "Add a release.")
        for file in self._generated_files:
            archives.write(file, self.folder)
        self._write_index_without_times()
        self.pack()
        for name in ("COMMIT_EDITMSG", "description", "ORIG_HEAD"):
            (self._git.directory / name).unlink(missing_ok=True)
        for name in ("branches", "info", "objects/info"):
            shutil.rmtree(self._git.directory / name, ignore_errors=True)
        self._remove_logs()
        for folder in (self._git.directory / "objects").iterdir():
            if folder.name != "pack":
                folder.rmdir()
        (self._git.directory / "config").write_text(_CONFIGURATION)
        _normalise(self.folder, self._git.directory, self._date.timestamp())
        head = self._run("rev-parse", "HEAD")
        return BuiltRepository(self.folder, head, dict(self._tags), self._date)

    def _run(
        self, *arguments: str, stdin: bytes = b"", environment: Mapping[str, str] | None = None
    ) -> str:
        try:
            return self._git.run(*arguments, stdin=stdin, environment=environment)
        except CommandError as error:
            raise RepositoryError(
                f"git {arguments[0]} failed in {self.folder}: {error}",
                "Check the free space and that git works, then build again.",
            ) from error

    def _apply(self, patch: Path, where: str, *options: str) -> None:
        try:
            self._git.run("apply", "--whitespace=nowarn", *options, str(patch.absolute()))
        except CommandError as error:
            raise RepositoryError(
                f"The patch {patch} does not apply to {where}:\n{error}",
                "Make the patch anew against that content; a defect's `since` says from which "
                "release on it applies.",
            ) from error

    def _commit(self, message: str, date: str, *options: str) -> None:
        self._date = _moment(date)
        self._run("add", "--all", "--force")
        try:
            self._git.run(
                *("commit", "--quiet", *options, f"--message={message}"),
                environment=self._identity(),
            )
        except CommandError as error:
            raise RepositoryError(
                f"The commit {message!r} cannot be made: {error}",
                "An overlay has to change at least one file.",
            ) from error

    def _identity(self) -> dict[str, str]:
        """Return who commits, and when: the date of the last commit."""
        date = self._date
        if date is None:
            raise RepositoryError("A stash needs a commit.", "Add a release first.")
        written = f"@{int(date.timestamp())} {date:%z}"
        return {
            f"GIT_{role}_{part}": value
            for role in ("AUTHOR", "COMMITTER")
            for part, value in (
                ("NAME", self.author.name),
                ("EMAIL", self.author.email),
                ("DATE", written),
            )
        }

    def _check_no_work_in_progress(self) -> None:
        if self._in_progress:
            raise RepositoryError(
                "A commit would swallow the work in progress that is already laid out.",
                "Add releases and overlays first.",
            )

    def _clear_worktree(self) -> None:
        for path in self.folder.iterdir():
            if path == self.folder / ".git":
                continue
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()

    def _remove_logs(self) -> None:
        """Remove all reflogs but the stash's, which is the list of its entries."""
        logs = self._git.directory / "logs"
        stash = logs / STASH
        entries = stash.read_bytes() if stash.is_file() else None
        shutil.rmtree(logs, ignore_errors=True)
        if entries is not None:
            stash.parent.mkdir(parents=True)
            stash.write_bytes(entries)

    def _write_index_without_times(self) -> None:
        """Write the index anew, so that it holds no inode or time of this machine.

        git refreshes it when it first looks, as after a clone that was copied.
        """
        entries = self._run("ls-files", "--stage", "-z")
        (self._git.directory / "index").unlink()
        self._run(
            "update-index", "-z", "--index-info", stdin=entries.encode(errors="surrogateescape")
        )


def _moment(date: str) -> datetime:
    """Read a date; without a zone it would depend on this machine's."""
    try:
        moment = datetime.fromisoformat(date)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise RepositoryError(
            f"{date!r} is not a date in ISO 8601 with a time zone.",
            "Write e.g. 2024-10-05T14:28:32Z.",
        )
    return moment


def _copy_files(source: Path, target: Path, *, replace: bool = True) -> list[Path]:
    """Copy all files below a folder with mode 644 or 755; return the copies."""
    if not source.is_dir():
        raise RepositoryError(f"{source} is not a folder.", "Correct its name in the task file.")
    copies = []
    for path in sorted(source.rglob("*")):
        copy = target / path.relative_to(source)
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise RepositoryError(f"{path} is not a regular file.", "Remove it from the task.")
        if path.is_dir():
            continue
        if copy.exists() and not replace:
            raise RepositoryError(
                f"{path} would replace a file of the project.", "Change that file by a patch."
            )
        copy.parent.mkdir(parents=True, exist_ok=True)
        executable = bool(path.stat().st_mode & stat.S_IXUSR)
        archives.write(
            archives.ArchivedFile(str(path.relative_to(source)), path.read_bytes(), executable),
            target,
        )
        copies.append(copy)
    return copies


def _normalise(folder: Path, directory: Path, moment: float) -> None:
    """Give everything the modes of a fresh clone and one time."""
    for parent, folders, files in os.walk(folder, topdown=False):
        for name in files:
            path = Path(parent, name)
            executable = bool(path.stat().st_mode & stat.S_IXUSR)
            packed = directory / "objects" in path.parents
            path.chmod(0o444 if packed else 0o755 if executable else 0o644)
            os.utime(path, (moment, moment))
        for name in (*folders, "."):
            path = Path(parent, name)
            path.chmod(0o755)
            os.utime(path, (moment, moment))
