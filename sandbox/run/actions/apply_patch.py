"""`apply_patch`: a unified diff, all of it or nothing.

Everything is computed before anything is written; where a write fails, what was written before
is put back.
"""

import contextlib
from dataclasses import dataclass
from functools import partial
from typing import Literal

from sandbox.model import path_text as paths
from sandbox.model.action import ApplyPatch
from sandbox.model.observation import ErrorCode, PatchedFile, PatchResult
from sandbox.model.patch_hunks import patched
from sandbox.model.patch_text import FilePatch, PatchError, parse
from sandbox.model.session import FileKind
from sandbox.rules.policy.subject import Subject
from sandbox.run.actions.outcome import Performed, Refusal, done, refusal
from sandbox.run.actions.prepared import Prepared
from sandbox.run.actions.read_file import contents
from sandbox.run.actions.shown_effect import cut
from sandbox.run.actions.target import Target
from sandbox.run.actions.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Held:
    """A regular file."""

    content: bytes
    mode: int


State = dict[bytes, Held | None]
"""By path, relative to the worktree; None where there is no file."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A patch that was read, and its paths resolved, once."""

    files: tuple[FilePatch, ...]
    targets: dict[bytes, Target]
    """By the name in the patch."""


def prepare(action: ApplyPatch, workspace: Workspace) -> Prepared:
    """Read the patch and look its files up; one that cannot be read is about no files."""
    parsed: Parsed | PatchError
    named: tuple[str, ...] = ()
    try:
        files = tuple(parse(action.patch.encode()))
    except PatchError as error:
        parsed = error
    else:
        names = [name for file in files for name in (file.old, file.new) if name is not None]
        targets = {name: Target.of(paths.text(name), workspace) for name in dict.fromkeys(names)}
        parsed, named = Parsed(files, targets), tuple(each.text for each in targets.values())
    return Prepared(
        Subject(action.name, paths=named),
        partial(_perform, parsed),
        partial(cut, action.patch),
    )


def _perform(parsed: Parsed | PatchError, workspace: Workspace) -> Performed:
    """Apply the patch; `patch_rejected` says which file, hunk and line does not fit, and why."""
    before: State = {}
    after: State = {}
    try:
        if isinstance(parsed, PatchError):
            raise parsed
        reports = tuple(_apply(file, parsed, workspace, before, after) for file in parsed.files)
    except PatchError as error:
        raise Refusal(
            ErrorCode.PATCH_REJECTED, f"The patch was rejected, nothing was changed: {error}."
        ) from error
    changed = [path for path in after if after[path] != before[path]]
    _write(workspace, changed, before, after)
    return done(PatchResult(files=reports), tuple(paths.text(path) for path in changed))


def _apply(
    file: FilePatch, parsed: Parsed, workspace: Workspace, before: State, after: State
) -> PatchedFile:
    """Put what one file becomes into `after`."""
    source, target = (
        None if name is None else _hold(parsed.targets[name], workspace, before, after)
        for name in (file.old, file.new)
    )
    shown = paths.text(file.new or file.old or b"")
    held = after[source] if source is not None else Held(b"", 0o644)
    if held is None:
        raise PatchError(f"{paths.text(file.old or b'')} does not exist")
    if target is not None and target != source and after[target] is not None:
        raise PatchError(f"{shown} exists already")
    try:
        content = patched(held.content, file.hunks)
    except PatchError as error:
        raise PatchError(f"{shown}: {error}") from error
    if target is None and content:
        raise PatchError(f"{shown} is to be deleted, but the patch does not remove all of it")
    if source is not None and source != target and not file.copied:
        after[source] = None
    if target is not None:
        after[target] = Held(content, held.mode if file.mode is None else file.mode)
    return PatchedFile(
        path=shown,
        change=_change(file),
        renamed_from=paths.text(file.old) if file.renamed and file.old else None,
        added_lines=sum(hunk.added for hunk in file.hunks),
        removed_lines=sum(hunk.removed for hunk in file.hunks),
    )


def _change(file: FilePatch) -> Literal["added", "modified", "deleted", "renamed"]:
    if file.new is None:
        return "deleted"
    if file.old is None or file.copied:
        return "added"
    return "renamed" if file.renamed else "modified"


def _hold(target: Target, workspace: Workspace, before: State, after: State) -> bytes:
    """Look a file up, once; return its path."""
    path = target.writable()
    if path not in before:
        before[path] = after[path] = _read(workspace, path, target.given)
    return path


def _read(workspace: Workspace, path: bytes, shown: str) -> Held | None:
    try:
        entry = workspace.session.stat(path, beneath=workspace.root)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise refusal(error, shown) from error
    if entry.kind is not FileKind.FILE:
        raise PatchError(f"{shown} is a {entry.kind}, not a regular file")
    return Held(contents(path, shown, workspace), entry.mode)


def _write(workspace: Workspace, changed: list[bytes], before: State, after: State) -> None:
    """Write what is there afterwards, then remove what is not; put all back where one fails."""
    ordered = sorted(changed, key=lambda path: after[path] is None)
    folders = _missing_folders(workspace, [path for path in changed if before[path] is None])
    for count, path in enumerate(ordered):
        try:
            _put(workspace, path, after[path])
        except OSError as error:
            kept = _put_back(workspace, ordered[:count], before, folders)
            cause = refusal(error, paths.text(path))
            raise Refusal(cause.code, f"{cause.message} {kept}") from error


def _put(workspace: Workspace, path: bytes, held: Held | None) -> None:
    if held is None:
        workspace.session.remove(path, beneath=workspace.root, follow=False)
    else:
        workspace.session.write(
            path, held.content, beneath=workspace.root, mode=held.mode, parents=True, follow=False
        )


def _put_back(
    workspace: Workspace, written: list[bytes], before: State, folders: list[bytes]
) -> str:
    left = []
    for path in reversed(written):
        try:
            _put(workspace, path, before[path])
        except OSError:
            left.append(paths.text(path))
    for folder in folders:
        with contextlib.suppress(OSError):
            workspace.session.remove(folder, beneath=workspace.root, follow=False)
    if left:
        return f"These files hold the patch already and could not be put back: {', '.join(left)}."
    return "Nothing was changed."


def _missing_folders(workspace: Workspace, files: list[bytes]) -> list[bytes]:
    """Return the folders that new files need and that are not there, deepest first."""
    missing = set()
    for path in files:
        folder = path.rpartition(b"/")[0]
        while folder and folder not in missing:
            try:
                workspace.session.stat(folder, beneath=workspace.root)
                break
            except OSError:
                missing.add(folder)
            folder = folder.rpartition(b"/")[0]
    return sorted(missing, key=len, reverse=True)
