"""What a command of vitest selects, as `pytest_arguments.py` says it.

Options: https://vitest.dev/guide/cli
"""

import re
from collections.abc import Sequence

_HARMLESS = re.compile(
    r"--(run|no-?watch|watch=false|no-?color|color|silent|hideSkippedTests|logHeapUsage|"
    r"no-?file-?parallelism|fileParallelism(=\w+)?|no-?isolate|no-?cache|no-?clearScreen|"
    r"disableConsoleIntercept|printConsoleTrace|expandSnapshotDiff|no-?coverage|coverage=false|"
    r"bail|configLoader=(bundle|native|runner)|reporter=(basic|default|dot|github-actions|hanging-process|json|junit|tap|tap-flat|"
    r"verbose|tree)|pool=(vm)?([Ff]orks|[Tt]hreads)|poolOptions(\.\w+)+(=\w+)?|"
    r"outputFile(\.\w+)?=\S+|(bail|(max|min)Workers|(test|hook|teardown)Timeout|"
    r"slowTestThreshold)=\d+|(root|dir)=\./?)"
)
"""Options that leave every test in, and load no code of anybody's."""

_WITH_VALUE = frozenset(
    {"--configLoader", "--reporter", "--outputFile", "--pool", "--maxWorkers", "--minWorkers"}
    | {"--testTimeout", "--hookTimeout", "--teardownTimeout", "--slowTestThreshold", "--bail"}
    | {"--root", "--dir"}
)
"""Those of them whose value may be the next word."""

PART = "?"
"""What stands before a part of a path: every test file whose path has it is run."""

_OTHER_COMMANDS = frozenset({"related", "watch", "dev", "bench", "init", "list"})
_LINE = re.compile(r".*:\d+")
"""A filter that runs one test."""


def selected_by_vitest(words: Sequence[str]) -> tuple[str, ...] | None:
    """Give the filters of a command line, as paths and as parts of paths; none for all tests.

    None where less than that may run, or nothing.
    """
    paths, rest = [], list(words)
    if rest and rest[0] in _OTHER_COMMANDS:
        return None
    if rest and rest[0] == "run":
        del rest[0]
    while rest:
        word = rest.pop(0)
        word = "--root" if word == "-r" else word
        if word in _WITH_VALUE and rest:
            word = f"{word}={rest.pop(0)}"
        if not word.startswith("-"):
            paths.append(word)
        elif not _HARMLESS.fullmatch(word):
            return None
    if any(_LINE.fullmatch(path) for path in paths):
        return None
    plain = [path.removeprefix("./") or "." for path in paths]
    return tuple(path if path.startswith(("/", ".")) else PART + path for path in plain)
