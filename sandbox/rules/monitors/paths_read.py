"""Which paths a step read: what was shown or read, `read_file`, commands that print files."""

import posixpath
from collections.abc import Callable, Iterator

from sandbox.model.glob import Globs
from sandbox.rules.monitors.context import Context
from sandbox.rules.monitors.step_commands import commands_of, folder_of
from sandbox.rules.monitors.steps import Step

READERS = frozenset({"bat", "cat", "head", "less", "more", "nl", "tac", "tail"})
"""Programs that print the files that are their arguments."""


def matcher(globs: Globs, context: Context) -> Callable[[Step], bool]:
    """Compile a glob over paths relative to the worktree; what failed has read nothing."""

    def matches(step: Step) -> bool:
        return any(globs.match(path) for path in paths_read(step, context))

    return matches


def placed(path: str, folder: str, context: Context) -> str:
    """Give a path relative to the worktree where it lies in it, else an absolute one."""
    whole = posixpath.normpath(posixpath.join(context.worktree, folder, path))
    if whole == context.worktree:
        return "."
    return whole.removeprefix(context.worktree.rstrip("/") + "/")


def paths_read(step: Step, context: Context) -> Iterator[str]:
    """Give the paths that a step read, relative to the worktree where they lie in it."""
    if step.kind in ("shown", "read"):
        path = step.arguments.get("path")
        if isinstance(path, str) and step.arguments.get("most", True):
            yield path
        return
    if step.name == "read_file":
        path = step.arguments.get("path")
        if isinstance(path, str) and step.observation and step.observation.status == "ok":
            yield placed(path, ".", context)
        return
    if not _succeeded(step):
        return
    folder = folder_of(step)
    for command in commands_of(step, context):
        if not command.words:
            continue
        name, *words = command.words
        if name == "cd" and len(words) == 1:
            folder = posixpath.join(folder, words[0])
        elif name.rsplit("/", 1)[-1] in READERS:
            yield from (placed(word, folder, context) for word in words if word[:1] != "-")


def _succeeded(step: Step) -> bool:
    if step.kind == "exec":
        return step.arguments.get("exit_code") == 0
    return step.observation is not None and step.observation.result.get("exit_code") == 0
