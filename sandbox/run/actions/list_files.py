"""`list_files`: what a folder holds."""

from collections.abc import Iterator
from functools import partial

from sandbox.model import path_text as paths
from sandbox.model.action import ListFiles
from sandbox.model.glob import Globs
from sandbox.model.observation import ErrorCode, FileList, ListedFile
from sandbox.model.session import AGENT, FileEntry, FileKind
from sandbox.rules.policy.subject import Subject
from sandbox.run.actions.outcome import Performed, Refusal, done, refusal
from sandbox.run.actions.prepared import Prepared
from sandbox.run.actions.target import Target
from sandbox.run.actions.workspace import Workspace

VISITED = 100_000
"""Entries that are looked at, of which a glob may keep few."""

_OVERHEAD = 50


def prepare(action: ListFiles, workspace: Workspace) -> Prepared:
    """Look the folder up."""
    target = Target.of(action.path, workspace)
    return Prepared(Subject(action.name, paths=(target.text,)), partial(_list, action, target))


def _list(action: ListFiles, target: Target, workspace: Workspace) -> Performed:
    """List entries in byte order, folders before what they hold, as far as the limits allow."""
    try:
        globs = Globs([action.glob]) if action.glob is not None else None
    except ValueError as error:
        raise Refusal(ErrorCode.BAD_ARGUMENTS, f"{error}.") from error
    folder = target.path()
    try:
        entries = workspace.session.list(folder, beneath=workspace.root, user=AGENT)
    except OSError as error:
        raise refusal(error, action.path) from error
    left = workspace.task.limits.observation_bytes
    found: list[ListedFile] = []
    truncated = False
    walk = _walk(workspace, folder, entries, recursive=action.recursive)
    for visited, (path, entry) in enumerate(walk):
        name = paths.text(path)
        if visited == VISITED:
            truncated = True
            break
        if globs is not None and not globs.match(name):
            continue
        left -= len(name) + _OVERHEAD
        if left < 0:
            truncated = True
            break
        found.append(ListedFile(path=name, kind=entry.kind, size=entry.size))
    return done(FileList(entries=tuple(found), truncated=truncated))


def _walk(
    workspace: Workspace, folder: bytes, entries: list[FileEntry], *, recursive: bool
) -> Iterator[tuple[bytes, FileEntry]]:
    """Yield paths below a folder; what the agent may not list, or what goes away, is skipped."""
    pending = [iter([(_below(folder, entry.path), entry) for entry in entries])]
    while pending:
        for path, entry in pending[-1]:
            yield path, entry
            if recursive and entry.kind is FileKind.DIRECTORY and entry.path != b".git":
                try:
                    inner = workspace.session.list(path, beneath=workspace.root, user=AGENT)
                except OSError:
                    continue
                pending.append(iter([(_below(path, each.path), each) for each in inner]))
                break
        else:
            pending.pop()


def _below(folder: bytes, name: bytes) -> bytes:
    return name if folder == b"." else folder + b"/" + name
