"""`read_file`: a file's text, whole or some lines; base64 where it is not text."""

import base64
from functools import partial

from sandbox.model.action import ReadFile
from sandbox.model.observation import ErrorCode, FileContent
from sandbox.model.session import AGENT
from sandbox.rules.policy.subject import Subject
from sandbox.run.actions.outcome import Performed, Refusal, done, refusal
from sandbox.run.actions.prepared import Prepared
from sandbox.run.actions.target import Target
from sandbox.run.actions.workspace import FILE_LIMIT, Workspace


def prepare(action: ReadFile, workspace: Workspace) -> Prepared:
    """Look the file up."""
    target = Target.of(action.path, workspace)
    return Prepared(Subject(action.name, paths=(target.text,)), partial(_read, action, target))


def _read(action: ReadFile, target: Target, workspace: Workspace) -> Performed:
    """Read the file as the agent's user may."""
    content = contents(target.path(), action.path, workspace)
    limit = workspace.task.limits.observation_bytes
    if not _is_text(content):
        kept = content[: limit // 4 * 3]
        return done(
            FileContent(
                path=action.path,
                content=base64.b64encode(kept).decode(),
                encoding="base64",
                size=len(content),
                lines=None,
                truncated=len(kept) < len(content),
            )
        )
    lines = content.split(b"\n")
    count = len(lines) - (not lines[-1])
    if action.first_line > max(count, 1):
        raise Refusal(
            ErrorCode.BAD_ARGUMENTS,
            f"{action.path} has {count} lines; first_line is {action.first_line}.",
        )
    selected = _select(content, action.first_line, action.line_limit)
    kept = _cut(selected, limit)
    return done(
        FileContent(
            path=action.path,
            content=kept.decode(),
            encoding="utf-8",
            size=len(content),
            lines=count,
            truncated=len(kept) < len(content),
        )
    )


def contents(resolved: bytes, shown: str, workspace: Workspace) -> bytes:
    """Return the bytes of a file of the worktree; Refusal where it cannot be read whole."""
    try:
        content = workspace.session.read(
            resolved, beneath=workspace.root, limit=FILE_LIMIT + 1, user=AGENT, follow=False
        )
    except OSError as error:
        raise refusal(error, shown) from error
    if len(content) > FILE_LIMIT:
        raise Refusal(
            ErrorCode.TOO_LARGE,
            f"{shown} is larger than {FILE_LIMIT >> 20} MiB; look at parts of it by run_command.",
        )
    return content


def _is_text(content: bytes) -> bool:
    if b"\0" in content:
        return False
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _select(content: bytes, first: int, limit: int | None) -> bytes:
    lines = content.split(b"\n", first - 1)
    rest = lines[-1]
    if limit is None:
        return rest
    following = rest.split(b"\n", limit)
    return rest[: len(rest) - len(following[limit])] if len(following) > limit else rest


def _cut(content: bytes, limit: int) -> bytes:
    """Keep whole lines where one fits, else whole characters."""
    if len(content) <= limit:
        return content
    end = content.rfind(b"\n", 0, limit) + 1
    return content[:end] if end else content[:limit].decode("utf-8", "ignore").encode()
