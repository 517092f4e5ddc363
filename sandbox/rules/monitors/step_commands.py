"""The commands of a step: those of its shell line, or the process that it is."""

from functools import lru_cache

from sandbox.model.shell.reader import commands, unwrapped
from sandbox.model.shell.tokens import ShellCommand
from sandbox.rules.monitors.context import Context
from sandbox.rules.monitors.steps import Step

_UNQUOTED = str.maketrans("", "", "'\"\\")


def line_of(step: Step, context: Context) -> str | None:
    """Give the shell line of an action that has one."""
    if step.name not in ("run_command", "run_tests"):
        return None
    line = step.arguments.get("command")
    if line is None and step.name == "run_tests":
        line = context.tests
    return line if isinstance(line, str) else None


def process_of(step: Step) -> ShellCommand | None:
    """Give the command of a step that is a process; it decides about its own exit code."""
    words = step.arguments.get("argv")
    if step.kind != "exec" or not isinstance(words, list):
        return None
    return unwrapped(ShellCommand(tuple(map(str, words)), (), "", ""))


def commands_of(step: Step, context: Context, *needed: str) -> tuple[ShellCommand, ...]:
    """Give a step's commands; none where its line lacks a needed text, whatever its quoting."""
    if step.kind == "exec":
        process = process_of(step)
        return () if process is None else (process,)
    line = line_of(step, context)
    if line is None:
        return ()
    for each in needed:
        if each not in line and each not in _plain(line):
            return ()
    return commands(line)


@lru_cache(maxsize=64)
def _plain(line: str) -> str:
    """Take quotes out of a line, so that each word stands in it as it is."""
    quoted = "'" in line or '"' in line or "\\" in line
    return line.translate(_UNQUOTED) if quoted else line


def folder_of(step: Step) -> str:
    """Where a step's commands start: absolute, or relative to the worktree."""
    folder = step.arguments.get("cwd", ".")
    return folder if isinstance(folder, str) else "."
