"""Paths of the client, `file://` and absolute, as paths of actions, relative to the worktree."""

from pathlib import PurePosixPath
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

from sandbox.agents.clients.codex.wire import INVALID_PARAMETERS, Refused
from sandbox.model import path_text as paths


class Outside(Refused):
    """A path is not of the worktree, which is all that actions reach."""


class Paths:
    """Two names for the worktree: a folder of the host that stands for it, and its own."""

    def __init__(self, work: str, worktree: str) -> None:
        self._roots = (work.encode(), worktree.encode())

    def relative(self, uri: str) -> str:
        """Name a path as actions do; Outside where it is elsewhere, Refused where it is none.

        A link that leads out of the worktree the action itself refuses.
        """
        try:
            parts = urlsplit(uri)
        except ValueError as error:
            raise Refused(f"{uri[:200]!r} is not a URI.", INVALID_PARAMETERS) from error
        if parts.scheme != "file" or parts.netloc or not parts.path.startswith("/"):
            raise Refused(f"{uri[:200]!r} is no `file:///` path.", INVALID_PARAMETERS)
        path = unquote_to_bytes(uri[len("file://") :])
        if b"\0" in path:
            raise Refused("A path holds a NUL character.", INVALID_PARAMETERS)
        if b".." in path.split(b"/"):
            raise Outside(f"{paths.text(path)} has a `..`; paths stay inside of the worktree.")
        for root in self._roots:
            if path.rstrip(b"/") == root:
                return "."
            if path.startswith(root + b"/"):
                return paths.text(path[len(root) + 1 :].strip(b"/")) or "."
        raise Outside(f"{paths.text(path)} is not in the worktree; only files there are reached.")

    def uri(self, path: str) -> str:
        """Name a path of the worktree as the client does."""
        whole = b"/".join((self._roots[0], *([] if path == "." else [paths.raw(path)])))
        return "file://" + quote_from_bytes(whole)


def parent(path: str) -> tuple[str, str]:
    """Split a path that is not `.` into folder and name."""
    whole = PurePosixPath(path)
    return str(whole.parent), whole.name
