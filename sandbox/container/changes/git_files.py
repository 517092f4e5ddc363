"""Where git's data is read from: files below a worktree, no link followed, every size bounded."""

import errno
from typing import Protocol

from sandbox.container.engines.base import Session
from sandbox.model.session import FileEntry, FileKind


class GitProblem(Exception):  # noqa: N818 - it ends in a ChangeSet's `git_problem`, not at a person
    """Why a repository cannot be read. Never leaves `git.py`."""


class Files(Protocol):
    """Read access to `.git`. Paths are relative to the worktree and start with `.git`."""

    def read(self, path: bytes, limit: int, offset: int = 0) -> bytes | None:
        """Read some bytes of a regular file; None where there is none."""

    def list(self, path: bytes) -> list[FileEntry]:
        """List a directory that is one, by bare names; nothing where there is none."""

    def stat(self, path: bytes) -> FileEntry | None:
        """Look at what stands at a path; None where nothing does."""


class SessionFiles:
    """The files of a session's worktree."""

    def __init__(self, session: Session, worktree: str) -> None:
        self._session = session
        self._worktree = worktree

    def read(self, path: bytes, limit: int, offset: int = 0) -> bytes | None:
        """Read some bytes of a regular file; GitProblem where a link or a folder is there."""
        try:
            return self._session.read(
                path, beneath=self._worktree, offset=offset, limit=limit, follow=False
            )
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _problem(path, error) from error

    def list(self, path: bytes) -> list[FileEntry]:
        """List a directory; GitProblem where something else is there."""
        try:
            if self._session.stat(path, beneath=self._worktree).kind is not FileKind.DIRECTORY:
                raise GitProblem(f"{_shown(path)} is not a folder any more")
            return self._session.list(path, beneath=self._worktree)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _problem(path, error) from error

    def stat(self, path: bytes) -> FileEntry | None:
        """Look at what stands at a path, a link itself."""
        try:
            return self._session.stat(path, beneath=self._worktree)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _problem(path, error) from error


def whole(files: Files, path: bytes, limit: int) -> bytes | None:
    """Read a whole file; None where there is none, GitProblem where it is too large."""
    data = files.read(path, limit + 1)
    if data is not None and len(data) > limit:
        raise GitProblem(f"{_shown(path)} is larger than {limit} bytes")
    return data


def _problem(path: bytes, error: OSError) -> GitProblem:
    if error.errno == errno.ELOOP:
        return GitProblem(f"{_shown(path)} is or lies behind a symbolic link")
    return GitProblem(f"{_shown(path)} cannot be read: {error.strerror}")


def _shown(path: bytes) -> str:
    return ascii(path.decode("utf-8", "backslashreplace"))[1:-1]
