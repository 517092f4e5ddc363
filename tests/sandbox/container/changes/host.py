"""Git's files of a folder on this host, for tests without a container."""

import os
import stat
import subprocess
from pathlib import Path

from sandbox.container.changes.git_files import GitProblem
from sandbox.model.session import FileEntry, FileKind

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_AUTHOR_NAME": "Anna",
    "GIT_AUTHOR_EMAIL": "anna@example.org",
    "GIT_COMMITTER_NAME": "Anna",
    "GIT_COMMITTER_EMAIL": "anna@example.org",
    "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z",
}


class Repository:
    """A repository that git itself works on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env=ENVIRONMENT, check=True, capture_output=True
        )
        return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self, message: str, *arguments: str) -> str:
        self.git("commit", "-q", "--allow-empty", "-m", message, *arguments)
        return self.git("rev-parse", "HEAD")


class HostFiles:
    """`changes.git_files.Files` over a folder; links are refused as a session does."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, path: bytes, limit: int, offset: int = 0) -> bytes | None:
        try:
            self._refuse_links(path)
            with self._at(path).open("rb") as file:
                file.seek(offset)
                return file.read(limit)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise GitProblem(f"{path!r}: {error.strerror}") from error

    def list(self, path: bytes) -> list[FileEntry]:
        self._refuse_links(path)
        try:
            with os.scandir(os.fsencode(self._at(path))) as entries:
                return [_entry(each.name, each.stat(follow_symlinks=False)) for each in entries]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise GitProblem(f"{path!r}: {error.strerror}") from error

    def stat(self, path: bytes) -> FileEntry | None:
        at = self._at(path)
        try:
            return _entry(path.rpartition(b"/")[2], at.lstat())
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _at(self, path: bytes) -> Path:
        return self._folder / os.fsdecode(path)

    def _refuse_links(self, path: bytes) -> None:
        parts = path.split(b"/")
        for count in range(1, len(parts) + 1):
            if self._at(b"/".join(parts[:count])).is_symlink():
                raise GitProblem(f"{path!r} is a link")


def _entry(name: bytes, status: os.stat_result) -> FileEntry:
    kind = (
        FileKind.DIRECTORY
        if stat.S_ISDIR(status.st_mode)
        else FileKind.SYMLINK
        if stat.S_ISLNK(status.st_mode)
        else FileKind.FILE
    )
    return FileEntry(
        path=name,
        kind=kind,
        mode=stat.S_IMODE(status.st_mode),
        uid=status.st_uid,
        gid=status.st_gid,
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        ctime_ns=status.st_ctime_ns,
        inode=status.st_ino,
        links=status.st_nlink,
    )
