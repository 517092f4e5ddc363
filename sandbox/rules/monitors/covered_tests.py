"""Whether a step is a test run that covers some paths, however it is spelt.

It counts where the exit code that the step reports is that of the run: `pytest && git commit`
does if it succeeds, `pytest; true` and `pytest | tail` do not, nor does a run of fewer tests.
"""

import itertools
import posixpath
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from sandbox.model.shell.reader import commands, unwrapped
from sandbox.model.shell.tokens import ShellCommand
from sandbox.rules.monitors.compiled_arguments import OWN_FILES, selected_by_cargo, selected_by_go
from sandbox.rules.monitors.context import Context
from sandbox.rules.monitors.javascript_arguments import (
    loaded_first,
    selected_by_node,
    selected_by_tape,
)
from sandbox.rules.monitors.make_arguments import leaves_it, made_by
from sandbox.rules.monitors.paths_read import placed
from sandbox.rules.monitors.pytest_arguments import WITHOUT, Choice, choices, selected
from sandbox.rules.monitors.python_arguments import loads_from_folder, module_run, script_run
from sandbox.rules.monitors.step_commands import folder_of, line_of, process_of
from sandbox.rules.monitors.steps import Step
from sandbox.rules.monitors.vitest_arguments import PART, selected_by_vitest

_PYTHON = re.compile(r"python[\d.]*")
_PYTEST = frozenset({"pytest", "py.test"})
_NODE = frozenset({"node", "nodejs"})
_OF_NODE = {"tape": "tape", "vitest": "vitest", "vitest.mjs": "vitest"}
"""What scripts that node runs are called, and the runner that each is."""
_OF_MAKE = frozenset({"MAKEFLAGS", "GNUMAKEFLAGS", "MAKEFILES"})
"""Variables that make takes options and rules from."""

_LOCAL = frozenset({"--no-install", "--no", "--offline", "--"})
"""Options of npx in front of a program that is installed."""

_TURNING = frozenset({"eval", "trap", "exit", "return", "alias", "set"})
"""Builtins that make of a list of commands something else, as reserved words do."""

_IN_TURN = frozenset({"", "&&", ";", "\n"})
"""Operators behind which the next command does not run at the same time, or instead."""


Roots = tuple[str, ...]
"""What a test run covers all that lies below of; `.` is the worktree, the last part `*` stands for
a folder's own files alone, and what lies below a path with `!` before it is left out. All paths
that have what stands behind a `?` are covered too."""


def matcher(paths: Sequence[str], context: Context) -> Callable[[Step], bool]:
    """Compile paths relative to the worktree, `.` for the whole suite."""
    wanted = tuple(posixpath.normpath(path) for path in paths)
    marks = ("test", "tape", "make ", *(line.split()[0] for line in context.aliases))

    def matches(step: Step) -> bool:
        if step.kind == "tested":
            roots = step.arguments.get("paths")
            known = tuple(map(str, roots)) if isinstance(roots, list | tuple) else ()
            return step.arguments.get("sound") is True and covers(known, wanted)
        code = _exit_code(step)
        if code is None:
            return False
        line = line_of(step, context)
        if line is not None and not any(mark in line for mark in marks):
            return False
        return any(covers(roots, wanted) for roots in runs_of(step, code, context))

    return matches


def runs_of(step: Step, code: int, context: Context) -> tuple[Roots, ...]:
    """Give what each run of tests covered among the commands of a step that ended with `code`."""
    process = process_of(step)
    if process is not None:
        return _runs((process,), folder_of(step), code, context)
    line = line_of(step, context)
    return () if line is None else _runs_of_line(line, folder_of(step), code, context)


def selected_by(
    argv: Sequence[str],
    folder: str,
    context: Context,
    environment: tuple[tuple[str, str], ...] = (),
) -> Roots | None:
    """Give what a process covers that runs tests; None where it is another program.

    `folder` is where it was started: absolute, or relative to the worktree. What `environment`
    has of pytest's options counts as its own.
    """
    process = unwrapped(ShellCommand(tuple(argv), environment, "", ""))
    if process is None:
        return None
    made = replace(process, environment=tuple(one for one in environment if one[0] in _OF_MAKE))
    own = _is_own_make(made, folder, context)
    selection = (context.worktree,) if own else _selection(process, context)
    if selection is None:
        return None
    return _roots(selection, folder, context)


_RUNS_NOTHING = frozenset(
    {"--version", "-V", "-VV", "--help", "-h", "--co", "--collect-only", "--fixtures", "--markers",
     "--fixtures-per-test", "--setup-plan", "--trace-config"}
)  # fmt: skip
"""Options with which pytest tells something and runs no test."""


def starts_pytest(argv: Sequence[str]) -> bool:
    """Whether a process runs tests by pytest, though nobody may know which ones."""
    words = list(argv)
    if is_python(words):
        words = list(module_run(words[1:]) or script_run(words[1:]))
        if not words:
            code = argv[argv.index("-c") + 1 :][:1] if "-c" in argv else ()
            return any("pytest" in each and "main" in each for each in code)
    return _name(words[0]) in _PYTEST and not _RUNS_NOTHING.intersection(words)


def starts_another(argv: Sequence[str]) -> bool:
    """Whether a process only starts another one, as `timeout 9 pytest` and `npx tape` do."""
    command = ShellCommand(tuple(argv), (), "", "")
    return unwrapped(command).words != command.words or [*map(_name, argv[:1])] == ["npx"]


def is_python(argv: Sequence[str]) -> bool:
    """Whether a process is Python, by its name."""
    return bool(argv) and _PYTHON.fullmatch(_name(argv[0])) is not None


def looks_around(argv: Sequence[str]) -> bool:
    """Whether a process loads first what lies in the folder that it was started in."""
    return is_python(argv) and loads_from_folder(argv[1:])


FAMILIES = {
    "pytest": re.compile(r"py\.?test[\d.-]*"),
    "python": re.compile(r"python[\d.]*"),
    "node": re.compile(r"node(js)?"),
    "tape": re.compile(r"tape"),
    "vitest": re.compile(r"vitest(\.mjs)?"),
    "go": re.compile(r"go[\d.-]*"),
    "cargo": re.compile(r"cargo[\d.-]*"),
    "make": re.compile(r"g?make"),
}
"""By what a process may be called: what its file is called then."""


def is_called_rightly(argv: Sequence[str], file: str) -> bool:
    """Whether a process is of the file that its first word says; one may call itself anything."""
    name, given = _name(argv[0]), _name(file)
    families = [each for each in FAMILIES.values() if each.fullmatch(name)]
    return not families or any(each.fullmatch(given) for each in families)


def is_python_run(argv: Sequence[str]) -> bool:
    """Whether a process that runs tests is Python, be it by the name of pytest."""
    return is_python(argv) or (bool(argv) and _name(argv[0]) in _PYTEST)


def modules_of(argv: Sequence[str]) -> tuple[str, ...]:
    """Give the modules that node or tape is told to load beside the tests."""
    return loaded_first(argv[1:]) if _name(argv[0]) in {*_NODE, "tape"} else ()


def script_of(argv: Sequence[str]) -> str | None:
    """Give the path of the script by whose name a process is one that runs tests."""
    if len(argv) > 1 and _name(argv[0]) in _NODE and _name(argv[1]) in _OF_NODE:
        return argv[1]
    script = script_run(argv[1:]) if is_python(argv) else ()
    return script[0] if script and _name(script[0]) in _PYTEST else None


_SELECTED: Mapping[str, Callable[[Sequence[str]], tuple[str, ...] | None]] = {
    **dict.fromkeys(_NODE, selected_by_node),
    "cargo": selected_by_cargo,
    "go": selected_by_go,
    "tape": selected_by_tape,
    "vitest": selected_by_vitest,
}
"""By what a program is called: how its arguments select tests."""


@lru_cache(maxsize=4096)
def may_run_tests(program: str) -> bool:
    """Whether a process of this name, its first word, may be one that `selected_by` knows."""
    name = _name(program)
    return name in {*_SELECTED, *_PYTEST, "make"} or _PYTHON.fullmatch(name) is not None


MOST = 256
"""Commands of a line that is still looked at."""


def _exit_code(step: Step) -> int | None:
    if step.kind == "exec":
        code = step.arguments.get("exit_code")
    else:
        code = None if step.observation is None else step.observation.result.get("exit_code")
    return code if isinstance(code, int) else None


@lru_cache(maxsize=4096)
def _runs_of_line(line: str, folder: str, code: int, context: Context) -> tuple[Roots, ...]:
    return _runs(commands(line), folder, code, context)


def _runs(
    given: Sequence[ShellCommand], folder: str, code: int, context: Context
) -> tuple[Roots, ...]:
    """Give what each test run among some commands covers."""
    if len(given) > MOST:
        return ()
    found = _meant(given, context)
    if any(
        command.keywords or (command.words[:1] and command.words[0] in _TURNING)
        for command in found
    ):
        return ()
    runs: list[Roots] = []
    moved = False
    for place, command in enumerate(found):
        words = command.words
        if words[:1] == ("cd",) and len(words) == 2 and command.before in _IN_TURN:
            folder = posixpath.join(folder, words[1])
            moved = moved or placed(".", folder, context) != "."
            continue
        own = _is_own_make(command, folder, context)
        selection = (context.worktree,) if own else _selection(command, context)
        elsewhere = placed(".", folder, context).startswith("/") and looks_around(words)
        if selection is not None and not elsewhere and _decides(found, place, code, moved=moved):
            runs.append(_roots(selection, folder, context))
    return tuple(runs)


def _meant(found: Sequence[ShellCommand], context: Context) -> tuple[ShellCommand, ...]:
    """Put what they stand for in place of aliases."""
    if not context.aliases:
        return tuple(found)
    meant: list[ShellCommand] = []
    for command in found:
        line = context.aliases.get(shlex.join(command.words))
        standing = commands(line) if line is not None and not command.environment else ()
        if len(standing) == 1:
            (one,) = standing
            command = replace(one, before=command.before, after=command.after)
        meant.append(command)
    return tuple(meant)


def _selection(command: ShellCommand, context: Context) -> tuple[str, ...] | None:
    """Give the paths that a test run selects; None where a command is none.

    What the task's own command leaves out is not missed.
    """
    words = command.words
    if not words:
        return None
    if _name(words[0]) == "npx":
        words = tuple(itertools.dropwhile(_LOCAL.__contains__, words[1:])) or words
    name, *rest = _name(words[0]), *words[1:]
    if name in _NODE and rest and _name(rest[0]) in _OF_NODE:
        name, rest = _OF_NODE[_name(rest[0])], rest[1:]
    if (by := _SELECTED.get(name)) is not None:
        return by(rest)
    if _PYTHON.fullmatch(name):
        run = module_run(rest) or script_run(rest)
        known = run[:1] == ("pytest",) or (len(run) > 0 and "/" in run[0])
        name, rest = (_name(run[0]), list(run[1:])) if known else (name, rest)
    if name not in _PYTEST:
        return None
    more = dict(command.environment).get("PYTEST_ADDOPTS", "")
    try:
        words = (*shlex.split(more), *rest)  # as pytest takes it apart
    except ValueError:
        return None
    return selected(words, _agreed(context.tests or ""))


@lru_cache(maxsize=64)
def _agreed(line: str) -> frozenset[Choice]:
    """Give what the runs of pytest in a line choose among tests by."""
    found: set[Choice] = set()
    for command in commands(line):
        called = itertools.dropwhile(lambda word: _name(word) not in _PYTEST, command.words)
        found |= choices([*called])
    return frozenset(found)


def _is_own_make(command: ShellCommand, folder: str, context: Context) -> bool:
    """Whether it is the task's own test command, by make: all tests that its makefile has."""
    words, own = command.words, shlex.split(context.tests or "")
    if not words or _name(words[0]) != "make" or own[:1] != ["make"]:
        return False
    if not leaves_it(command.environment):
        return False
    made, wanted = made_by(words[1:]), made_by(own[1:])
    if made is None or wanted is None:
        return False
    at, goals = made
    return (placed(at, folder, context), goals) == wanted


def _name(program: str) -> str:
    return program.rsplit("/", 1)[-1]


def _decides(found: Sequence[ShellCommand], place: int, code: int, *, moved: bool) -> bool:
    """Whether the line's exit code is that of one of its commands.

    There are three cases. The line ended with 0: then each command that `&&` joins has, and the
    test run is one of them. It ended otherwise and nothing follows the test run: the code is its
    own, unless something in front of `&&` failed first. Anything else tells nothing of it.
    """
    before = {command.before for command in found[: place + 1]}
    after = {command.before for command in found[place + 1 :]}
    if not before <= _IN_TURN or found[-1].after not in _IN_TURN - {"&&"}:
        return False
    if code == 0:
        return after <= {"&&"}
    # What fails in front of `&&` fails the line as well, and no test was run.
    others = moved or any(command.words[:1] != ("cd",) for command in found[:place])
    return not after and ("&&" not in before or not others)


def _roots(selection: tuple[str, ...], folder: str, context: Context) -> Roots:
    left_out = [path.removeprefix(WITHOUT) for path in selection if path.startswith(WITHOUT)]
    paths = [path for path in selection if not path.startswith(WITHOUT)] or ["."]
    if placed(".", folder, context) != ".":
        paths = [path.removeprefix(PART) for path in paths]
    return (
        *(path if path.startswith(PART) else placed(path, folder, context) for path in paths),
        *(WITHOUT + placed(path, folder, context) for path in left_out),
    )


def covers(roots: Roots, wanted: Sequence[str]) -> bool:
    """Whether all of some paths was run by what a test run covered."""
    left_out = [root.removeprefix(WITHOUT) for root in roots if root.startswith(WITHOUT)]
    if any(_lies_in(path, out) or _lies_in(out, path) for path in wanted for out in left_out):
        return False
    return all(any(_lies_in(path, root) for root in roots) for path in wanted)


def _lies_in(path: str, root: str) -> bool:
    folder, _, last = root.rpartition("/")
    if last == OWN_FILES:
        is_file = posixpath.splitext(path)[1] != ""
        return is_file and posixpath.dirname(path) == folder
    if root.startswith(PART):
        return root.removeprefix(PART).lower() in path.lower()
    return root in (".", path) or path.startswith(root + "/")
