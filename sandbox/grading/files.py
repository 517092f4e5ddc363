"""Files of the worktree as they are before something is laid over them."""

import contextlib
import stat
from collections.abc import Iterable
from dataclasses import dataclass

from sandbox.container.engines.base import Session
from sandbox.model import path_text as paths
from sandbox.model.session import AGENT, ROOT, FileKind

LIMIT = 16 << 20
"""Bytes of one file that is put back."""


@dataclass(frozen=True, slots=True)
class Files:
    """What stood at some paths of the worktree."""

    session: Session
    worktree: str
    content: dict[str, tuple[bytes, int] | None]
    """Content and mode; None where there was no file."""

    @classmethod
    def of(cls, session: Session, worktree: str, names: Iterable[str]) -> "Files":
        """Read them, before others are laid down."""
        found: dict[str, tuple[bytes, int] | None] = {}
        for path in names:
            found[path] = None
            raw = paths.raw(path)
            with contextlib.suppress(OSError):
                entry = session.stat(raw, beneath=worktree)
                if entry.kind is FileKind.FILE:
                    content = session.read(raw, beneath=worktree, limit=LIMIT)
                    found[path] = content, stat.S_IMODE(entry.mode)
        return cls(session, worktree, found)

    def put_back(self, but: Iterable[str] = ()) -> None:
        """Lay them down as they were, except for some."""
        left_out = set(but)
        for path, held in self.content.items():
            if path in left_out:
                continue
            raw = paths.raw(path)
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                self.session.remove(raw, beneath=self.worktree, user=ROOT)
            if held is not None:
                content, mode = held
                self.session.write(
                    raw, content, beneath=self.worktree, mode=mode, user=AGENT, parents=True
                )
