"""Whether a step is a test run that covers some paths, however it is spelt.

It counts where the exit code that the step reports is that of the run: `pytest && git commit`
does if it succeeds, `pytest; true` and `pytest | tail` do not, nor does a run of fewer tests.
"""

import posixpath
import re
import shlex
from collections.abc import Callable, Iterator, Sequence

from sandbox.monitors.context import Context
from sandbox.monitors.lines import commands_of, folder_of
from sandbox.monitors.pytest_arguments import selected
from sandbox.monitors.reading import placed
from sandbox.monitors.shell import ShellCommand, commands
from sandbox.monitors.steps import Step

_PYTHON = re.compile(r"python[\d.]*")
_COMPOUND = frozenset(
    {"if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
     "function", "{", "}", "!", "eval", "trap", "exit", "return", "alias", "set"}
)  # fmt: skip
"""Words that make of a list of commands something else."""


def matcher(paths: Sequence[str], context: Context) -> Callable[[Step], bool]:
    """Compile paths relative to the worktree, `.` for the whole suite."""
    wanted = tuple(posixpath.normpath(path) for path in paths)

    def matches(step: Step) -> bool:
        code = _exit_code(step)
        return code is not None and any(
            _covers(selection, folder, wanted, context)
            for selection, folder in _runs(step, code, context)
        )

    return matches


def _exit_code(step: Step) -> int | None:
    if step.kind == "exec":
        code = step.arguments.get("exit_code")
    else:
        code = None if step.observation is None else step.observation.result.get("exit_code")
    return code if isinstance(code, int) else None


def _runs(step: Step, code: int, context: Context) -> Iterator[tuple[tuple[str, ...], str]]:
    """Give what each test run of a step selects, and the folder that it starts in."""
    found = _meant(commands_of(step, context), context)
    if any(command.words[:1] and command.words[0] in _COMPOUND for command in found):
        return
    folder, moved = folder_of(step), False
    for place, command in enumerate(found):
        words = command.words
        if words[:1] == ("cd",) and len(words) == 2 and command.before in ("", "&&", ";", "\n"):
            folder = posixpath.join(folder, words[1])
            moved = moved or placed(".", folder, context) != "."
            continue
        selection = _selection(command)
        if selection is not None and _decides(found, place, code, moved=moved):
            yield selection, folder


def _meant(found: Sequence[ShellCommand], context: Context) -> tuple[ShellCommand, ...]:
    """Put what they stand for in place of aliases."""
    meant: list[ShellCommand] = []
    for command in found:
        line = context.aliases.get(shlex.join(command.words))
        standing = commands(line) if line is not None and not command.environment else ()
        if len(standing) == 1:
            (one,) = standing
            command = ShellCommand(one.words, one.environment, command.before, command.after)
        meant.append(command)
    return tuple(meant)


def _selection(command: ShellCommand) -> tuple[str, ...] | None:
    """Give the paths that a test run selects; None where a command is none."""
    words = command.words
    if not words:
        return None
    name = words[0].rsplit("/", 1)[-1]
    if name in ("pytest", "py.test"):
        words = words[1:]
    elif _PYTHON.fullmatch(name) and words[1:3] == ("-m", "pytest"):
        words = words[3:]
    else:
        return None
    more = dict(command.environment).get("PYTEST_ADDOPTS", "")
    return selected((*more.split(), *words))


def _decides(found: Sequence[ShellCommand], place: int, code: int, *, moved: bool) -> bool:
    """Whether the line's exit code is that of one of its commands."""
    after = [command.before for command in found[place + 1 :]]
    before = [command.before for command in found[: place + 1]]
    if found[-1].after not in ("", ";", "\n"):
        return False
    if code == 0:
        return set(after) <= {"&&"} and set(before) <= {"", "&&", ";", "\n"}
    others = [command for command in found[:place] if command.words[:1] != ("cd",)]
    sure = all(each in ("", ";", "\n") for each in before) or not (others or moved)
    return not after and set(before) <= {"", "&&", ";", "\n"} and sure


def _covers(
    selection: tuple[str, ...], folder: str, wanted: tuple[str, ...], context: Context
) -> bool:
    roots = [placed(path, folder, context) for path in selection or (".",)]
    return all(
        any(root in (".", path) or path.startswith(root + "/") for root in roots) for path in wanted
    )
