"""What a command of Python runs as a module, whatever options stand before it.

Options: https://docs.python.org/3/using/cmdline.html
"""

import re
from collections.abc import Sequence

_FLAGS = "BbdEIPqsuv"
"""Options that leave what a module does as it is. Not `-O`, without which nothing is asserted."""
_HARMLESS = re.compile(
    rf"-[{_FLAGS}]+|-W\S+|-X(?:dev|utf8(?:=[01])?|faulthandler|importtime|no_debug_ranges|"
    r"tracemalloc(?:=\d+)?|int_max_str_digits=\d+)"
)
_MODULE = re.compile(rf"-[{_FLAGS}]*m(\S*)")
_WITH_VALUE = ("-W", "-X")


def module_run(words: Sequence[str]) -> tuple[str, ...]:
    """Give the module that `python WORDS` runs, and its arguments; none where that is not plain."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if found := _MODULE.fullmatch(word):
            return (found[1], *rest) if found[1] else tuple(rest)
        if word in _WITH_VALUE and rest:
            word += rest.pop(0)
        if _HARMLESS.fullmatch(word) is None:
            return ()
    return ()
