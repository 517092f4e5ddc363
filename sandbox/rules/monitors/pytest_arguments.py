"""What a pytest command selects. Whatever is not understood selects nothing that can be relied on.

Options: https://docs.pytest.org/en/stable/reference/reference.html#command-line-flags
"""

import re
from collections.abc import Collection, Sequence

_WARNING = r"[a-z]+(:[^:]*(:\w*(:[^:]*(:\d*)?)?)?)?"
"""A filter of warnings; one whose category has a dot loads a module."""

_FLAGS = re.compile(
    r"-[qvxsl]+|-r[a-zA-Z]+|--(verbose|quiet|exitfirst|showlocals|no-header|no-summary|ff|"
    r"failed-first|nf|new-first|cache-clear|full-trace|disable-warnings|strict-markers|"
    r"strict-config|tb=\w+|color=\w+|maxfail=\d+|durations=\d+|capture=\w+|show-capture=\w+|"
    r"verbosity=-?\d+|junit-?xml=\S+|numprocesses=\w+|durations-min=[\d.]+|code-highlight=\w+|"
    r"log-(cli-|file-)?level=\w+|log-file=\S+|basetemp=\S+|trace-config|debug|setup-show|"
    r"(no-)?fold-skipped|continue-on-collection-errors|import-mode=(prepend|importlib)|"
    r"no-showlocals|assert=(rewrite|plain)|doctest-modules|lfnf=all)|-n\w+|"
    r"-pno:(cacheprovider|randomly|warnings|xdist)|"
    rf"(-W|--pythonwarnings=){_WARNING}"
)
"""Options that leave every selected test in, and have no word of their own behind them."""

_WITH_VALUE = frozenset(
    {"--tb", "--color", "--maxfail", "--durations", "--capture", "--show-capture", "--verbosity",
     "--junitxml", "--junit-xml", "-n", "--numprocesses", "--durations-min", "--code-highlight",
     "--log-level", "--log-cli-level", "--log-file", "--log-file-level", "--basetemp"}
)  # fmt: skip
"""Options of the same kind whose value is the next word."""

_HARMLESS = {
    *(("-p", f"no:{plugin}") for plugin in ("cacheprovider", "randomly", "warnings", "xdist")),
    *(("--import-mode", mode) for mode in ("prepend", "importlib")),
}
"""Options of the same kind with such values alone: `append` may load another copy of the code."""

_SETTING = re.compile(r"(?:-o|--override-ini(?:=|$))(.*)")
_SETTINGS = re.compile(
    r"addopts=|(log_cli|cache_dir|console_output_style|junit_family|log_(cli_|file_)?level|"
    r"verbosity_\w+|xfail_strict|tmp_path_retention_(count|policy)|faulthandler_timeout)=[\w./-]+"
)
"""Settings with which every selected test stays in."""

_EXPANDED = re.compile(r"[*?\[$`{~]")

_CHOOSING = ("-k", "-m", "--deselect")

WITHOUT = "!"
"""What stands before a path that is left out."""


Choice = tuple[str, str]
"""An option by which some of the selected tests are left out, and its value."""


def choices(words: Sequence[str]) -> frozenset[Choice]:
    """Give those of a command line."""
    found = (_choice(word, words[at + 1 :]) for at, word in enumerate(words))
    return frozenset(each for each in found if each is not None)


def selected(
    words: Sequence[str], agreed: Collection[Choice] = frozenset()
) -> tuple[str, ...] | None:
    """Give the paths of a command line, none for all tests, and those that it leaves out, with `!`.

    None where less than they may run, but for what is left out by a choice that is agreed.
    """
    paths, left_out, rest, rooted = [], [], list(words), False
    while rest:
        word = rest.pop(0)
        if agreed and _choice(word, rest) in agreed:
            del rest[: int(word in _CHOOSING)]
            continue
        if word.startswith("@"):
            return None  # a file with more words
        if word == "--":
            paths += rest
            break
        name, equals, value = word.partition("=")
        if name == "--ignore" and (equals or rest):
            left_out.append(value if equals else rest.pop(0))
        elif name == "--rootdir" and (equals or rest):
            rooted = True
            if not equals:
                del rest[0]
        elif rest and (
            word in _WITH_VALUE
            or (word, rest[0]) in _HARMLESS
            or (word in ("-W", "--pythonwarnings") and re.fullmatch(_WARNING, rest[0]))
        ):
            rest.pop(0)
        elif setting := _SETTING.fullmatch(word):
            if _SETTINGS.fullmatch(setting[1] or (rest.pop(0) if rest else "")) is None:
                return None
        elif word.startswith("-"):
            if _FLAGS.fullmatch(word) is None:
                return None
        else:
            paths.append(word)
    whole = tuple(path for path in paths if "::" not in path and not _EXPANDED.search(path))
    if rooted and not paths:
        return None  # the tests of `testpaths` are those of pytest's own root
    if (paths and not whole) or any(_EXPANDED.search(path) for path in left_out):
        return None
    return (*whole, *(WITHOUT + path for path in left_out))


def _choice(word: str, rest: Sequence[str]) -> Choice | None:
    """Read `word` as an option that chooses among tests; its value may be the next word."""
    if word in _CHOOSING:
        return (word, rest[0]) if rest else None
    name, equals, value = word.partition("=")
    if equals and name in _CHOOSING and name.startswith("--"):
        return name, value
    return (word[:2], word[2:]) if word[:2] in _CHOOSING else None
