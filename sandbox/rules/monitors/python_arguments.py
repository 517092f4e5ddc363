"""What a command of Python runs, whatever options stand before it.

Options: https://docs.python.org/3/using/cmdline.html
"""

import re
from collections.abc import Sequence

from sandbox.rules.monitors.python_code import pytest_called

_FLAGS = "BbdEIPqsuv"
"""Options that leave what a module does as it is. Not `-O`, without which nothing is asserted."""
_HARMLESS = re.compile(
    rf"-[{_FLAGS}]+|-W\S+|-X(?:dev|utf8(?:=[01])?|faulthandler|importtime|no_debug_ranges|"
    r"tracemalloc(?:=\d+)?|int_max_str_digits=\d+)"
)
_MODULE = re.compile(rf"-[{_FLAGS}]*m(\S*)")
_CODE = re.compile(rf"-[{_FLAGS}]*c")
_WITH_VALUE = ("-W", "-X")
_ELSEWHERE = re.compile(rf"-[{_FLAGS}]*[IP].*")
"""Options with which the folder that Python was started in is not looked into."""


def module_run(words: Sequence[str]) -> tuple[str, ...]:
    """Give the module that `python WORDS` runs, and its arguments; none where that is not plain.

    Code that does nothing but run pytest is as good as the module.
    """
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if found := _MODULE.fullmatch(word):
            return (found[1], *rest) if found[1] else tuple(rest)
        if _CODE.fullmatch(word) and rest:
            called = pytest_called(rest[0], rest[1:])
            return () if called is None else ("pytest", *called)
        if word in _WITH_VALUE and rest:
            word += rest.pop(0)
        if _HARMLESS.fullmatch(word) is None:
            return ()
    return ()


def script_run(words: Sequence[str]) -> tuple[str, ...]:
    """Give the script that `python WORDS` runs by path, and its arguments; none if not plain."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            return (word, *rest) if "/" in word else ()
        if word in _WITH_VALUE and rest:
            word += rest.pop(0)
        if _HARMLESS.fullmatch(word) is None:
            return ()
    return ()


def loads_from_folder(words: Sequence[str]) -> bool:
    """Whether `python WORDS` looks for modules first in the folder that it was started in."""
    rest = list(words)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        if _ELSEWHERE.fullmatch(word):
            return False
        if _MODULE.fullmatch(word) or _CODE.fullmatch(word):
            return True
        if word in _WITH_VALUE and rest:
            rest.pop(0)
    return False
