"""Differences by an overlay's upper directory: only what the container wrote is looked at."""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from sandbox.container.changes.bounds import Bounds, outermost
from sandbox.container.changes.difference import DIGEST_LIMIT, Difference, Status, compare
from sandbox.container.changes.layers import Layer, status_of, whiteout
from sandbox.container.engines.base import Overlay
from sandbox.model.session import FileKind

PARAMETERS = Path("/sys/module/overlay/parameters")

WINDOW = 1 << 16

Folders = tuple[Layer, ...]
"""The lower layers, topmost first, that together are one directory."""


def readable(overlay: Overlay | None) -> bool:
    """Whether this host's kernel and rights allow differences to be read from an overlay."""
    if overlay is None:
        return False
    for name in ("redirect_dir", "metacopy"):
        parameter = PARAMETERS / name
        if parameter.exists() and parameter.read_text().strip() == "Y":
            return False
    try:
        with ExitStack() as opened:
            opened.enter_context(Layer(overlay.upper)).opaque(b"")
            for folder in overlay.lower:
                opened.enter_context(Layer(folder))
    except OSError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Folder:
    """A directory of the upper layer, with those of the image at the same path."""

    path: bytes
    below: Folders
    hidden: bool
    """Whether a directory above hides those of the image."""


class OverlayWalk:
    """One look at what a container wrote; the container must be still."""

    def __init__(self, overlay: Overlay, excluded: Callable[[bytes], bool], bounds: Bounds) -> None:
        """Open the layers; `excluded` says which absolute paths are the engine's own."""
        self._excluded = excluded
        self._bounds = bounds
        self._before: dict[bytes, Status] = {}
        self._after: dict[bytes, Status] = {}
        self._holders: dict[bytes, Layer] = {}
        with ExitStack() as opened:
            self._upper = opened.enter_context(Layer(overlay.upper))
            self._lower = tuple(opened.enter_context(Layer(folder)) for folder in overlay.lower)
            self._opened = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._opened.close()

    def differences(self) -> dict[bytes, Difference]:
        """Give each path that differs with both of its entries."""
        pending = [_Folder(b"", self._lower, hidden=False)]
        while pending:
            pending.extend(self._compare(pending.pop()))
        return compare(self._before, self._after, self._digests_before, self._digests_after)

    def digested(self, found: dict[bytes, Difference]) -> dict[bytes, Difference]:
        """Give differences with the digests of files as they were."""
        files = [path for path, (before, _) in found.items() if _is_file(before)]
        digests = self._digests_before(sorted(files))
        return found | {
            path: found[path]._replace(before=before._replace(digest=digests[path]))
            for path in files
            if (before := found[path].before) is not None
        }

    def read_before(self, path: bytes, limit: int) -> bytes:
        """Read a regular file of the image."""
        return b"".join(_read(self._holders[path], path, limit))

    def read_after(self, path: bytes, limit: int) -> bytes:
        """Read a regular file that the container wrote."""
        return b"".join(_read(self._upper, path, limit))

    def _digests_before(self, files: list[bytes]) -> dict[bytes, str]:
        return {path: _digest(self._holders[path], path) for path in files}

    def _digests_after(self, files: list[bytes]) -> dict[bytes, str]:
        return {path: _digest(self._upper, path) for path in files}

    def _compare(self, folder: _Folder) -> Iterator[_Folder]:
        """Compare a directory of the upper layer with those below; yield its directories."""
        path = folder.path
        if outermost(b"/" + path):
            self._bounds.leave_out(b"/" + path, self._upper.count(path))
            return
        with self._upper.entries(path) as (entries, opaque):
            # What is made anew in an opaque directory hides what lies below it, unmarked itself.
            hidden = folder.hidden or opaque
            for each in entries:
                child = _below(path, os.fsencode(each.name))
                if self._excluded(b"/" + child):
                    continue
                if not self._bounds.takes(b"/" + child):
                    if each.is_dir(follow_symlinks=False):
                        self._bounds.leave_out(b"/" + path, self._upper.count(child))
                    continue
                found = each.stat(follow_symlinks=False)
                deeper = self._child(child, found, folder.below, hidden=hidden)
                if deeper is not None:
                    yield deeper
        if hidden:
            for name in _names(path, folder.below):
                if self._upper.stat(_below(path, name)) is None:
                    self._gone(_below(path, name), folder.below)

    def _child(
        self, child: bytes, found: os.stat_result, below: Folders, *, hidden: bool
    ) -> _Folder | None:
        if whiteout(found):
            self._gone(child, below)
            return None
        status = self._after[b"/" + child] = status_of(child, self._upper, found)
        folders = self._note(child, below)
        if status.kind is FileKind.DIRECTORY:
            return _Folder(child, folders, hidden)
        if folders:
            self._all_gone(child, folders)
        return None

    def _gone(self, path: bytes, below: Folders) -> None:
        """Note that what lay at a path is not there any more, with all below it."""
        if not self._excluded(b"/" + path):
            self._all_gone(path, self._note(path, below))

    def _all_gone(self, path: bytes, folders: Folders) -> None:
        pending = [(path, folders)]
        while pending:
            folder, layers = pending.pop()
            for name in _names(folder, layers):
                child = folder + b"/" + name
                if not self._excluded(b"/" + child):
                    pending.append((child, self._note(child, layers)))

    def _note(self, path: bytes, below: Folders) -> Folders:
        """Note what the lower layers show at a path; give those with a part in the directory."""
        status: Status | None = None
        folders: list[Layer] = []
        for layer in below:
            found = layer.stat(path)
            if found is None:
                continue
            if whiteout(found):
                break
            current = status_of(path, layer, found)
            if status is None:
                status = self._before[b"/" + path] = current
                self._holders[b"/" + path] = layer
            if current.kind is not FileKind.DIRECTORY:
                break
            if folders and folders[-1].opaque(path):
                break
            folders.append(layer)
        return tuple(folders)


def _below(path: bytes, name: bytes) -> bytes:
    return path + b"/" + name if path else name


def _is_file(status: Status | None) -> bool:
    return status is not None and status.kind is FileKind.FILE


def _names(path: bytes, layers: Folders) -> set[bytes]:
    """Give all names of a directory of the lower layers, those that whiteouts hide too."""
    return {name for layer in layers for name in layer.names(path)}


def _digest(layer: Layer, path: bytes) -> str:
    file = layer.open(path[1:])
    try:
        data = os.read(file, WINDOW)
        digest = hashlib.sha256(data)
        left = DIGEST_LIMIT - len(data)
        while len(data) == WINDOW and left > 0:  # a regular file reads short only at its end
            data = os.read(file, min(WINDOW, left))
            digest.update(data)
            left -= len(data)
    finally:
        os.close(file)
    return digest.hexdigest()


def _read(layer: Layer, path: bytes, limit: int) -> Iterator[bytes]:
    file = layer.open(path[1:])
    try:
        while limit > 0 and (data := os.read(file, min(limit, WINDOW))):
            limit -= len(data)
            yield data
    finally:
        os.close(file)
