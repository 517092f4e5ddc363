"""`write_file`: a whole file, complete or untouched."""

import base64
import binascii
from functools import partial

from sandbox.model import path_text as paths
from sandbox.model.action import WriteFile
from sandbox.model.observation import ErrorCode, WriteResult
from sandbox.model.session import FileEntry
from sandbox.rules.policy.subject import Subject
from sandbox.run.actions.outcome import Performed, Refusal, done, refusal
from sandbox.run.actions.prepared import Prepared
from sandbox.run.actions.read_file import contents
from sandbox.run.actions.shown_effect import difference
from sandbox.run.actions.target import Target
from sandbox.run.actions.workspace import Workspace

EXECUTABLE = 0o111


def prepare(action: WriteFile, workspace: Workspace) -> Prepared:
    """Look the file up."""
    target = Target.of(action.path, workspace)
    return Prepared(
        Subject(action.name, paths=(target.text,)),
        partial(_write, action, target),
        partial(_effect, action, target, workspace),
    )


def _write(action: WriteFile, target: Target, workspace: Workspace) -> Performed:
    """Write the file as the agent's user may; folders that are missing are made."""
    resolved = target.writable()
    content = _content(action)
    try:
        old = _old(workspace, resolved)
        workspace.session.write(
            resolved,
            content,
            beneath=workspace.root,
            mode=_mode(action, old),
            parents=True,
            follow=False,
        )
    except OSError as error:
        raise refusal(error, action.path) from error
    result = WriteResult(path=action.path, size=len(content), created=old is None)
    return done(result, (paths.text(resolved),))


def _effect(action: WriteFile, target: Target, workspace: Workspace) -> str:
    """Give the difference between the file and what is to be written."""
    if action.encoding != "utf-8":
        return ""
    try:
        old = contents(target.path(), action.path, workspace).decode("utf-8", "backslashreplace")
    except Refusal as refused:
        if refused.code is not ErrorCode.NOT_FOUND:
            return ""
        old = ""
    return difference(action.path, old, action.content)


def _content(action: WriteFile) -> bytes:
    if action.encoding == "utf-8":
        return action.content.encode()
    try:
        return base64.b64decode(action.content, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Refusal(ErrorCode.BAD_ARGUMENTS, f"content is not base64: {error}.") from error


def _old(workspace: Workspace, resolved: bytes) -> FileEntry | None:
    try:
        return workspace.session.stat(resolved, beneath=workspace.root)
    except FileNotFoundError:
        return None


def _mode(action: WriteFile, old: FileEntry | None) -> int | None:
    if action.executable is None:
        return None
    if old is None:
        return 0o755 if action.executable else 0o644
    return old.mode | EXECUTABLE if action.executable else old.mode & ~EXECUTABLE
