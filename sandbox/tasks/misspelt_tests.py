"""Ids of tests in a task file that their file's text does not have.

What a text does not tell for sure (inherited from elsewhere, computed) is left to the run, and so
are names in JavaScript that are like none.
"""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Set

from sandbox.tasks import parameters, python_tests

SCRIPTS = (".js", ".mjs", ".cjs")
NEAR, NEAR_SENTENCE = 0.8, 0.87
"""How alike names of functions, and names that are sentences, have to be to be one, misspelt."""


def problems(listed: Iterable[str], texts: Mapping[str, str]) -> Iterator[str]:
    """Say what is wrong with ids of the files in `texts`, which maps paths to what they hold."""
    by_path: dict[str, list[str]] = {}
    for test in listed:
        path, _, name = test.partition("::")
        if name:
            by_path.setdefault(path, []).append(test)
    for path in by_path.keys() & texts.keys():
        if path.endswith(".py"):
            yield from _python(path, by_path[path], texts[path])
        elif path.endswith(SCRIPTS):
            yield from _script(path, by_path[path], texts[path])


def _python(path: str, tests: Iterable[str], text: str) -> Iterator[str]:
    classes = python_tests.by_class(text)
    parameterized = parameters.by_function(text)
    for test in tests:
        name, _, given = test.removeprefix(f"{path}::").partition("[")
        above, _, function = name.rpartition("::")
        known = classes.get(above)
        if above not in classes:
            near = difflib.get_close_matches(above, classes, n=1, cutoff=NEAR)
            if near or _has_no_class(classes, above):
                yield f"{test}: {path} has no class {above}{_meant(near)}"
        elif known is not None and function not in known:
            near = difflib.get_close_matches(function, known, n=1, cutoff=NEAR)
            yield f"{test}: {path} has no test {function}{_meant(near)}"
        elif name in parameterized:
            near = _parameters(function, given.removesuffix("]"), parameterized[name])
            if near:
                yield f"{test}: {function} has other parameters{_meant(near)}"


def _has_no_class(classes: Mapping[str, python_tests.Found], above: str) -> bool:
    """Whether a text that tells all its names has none of an outermost class."""
    known, outermost = classes.get(python_tests.MODULE), above.partition("::")[0]
    return known is not None and outermost not in {*known, *classes}


def _meant(near: list[str]) -> str:
    return f"; did you mean {near[0]}?" if near else ""


def _parameters(function: str, given: str, known: Set[str]) -> list[str]:
    # Ids that would be the same have a number at their ends, and fixtures may add parts.
    whole = (f"-{given}-", f"-{re.sub(r'_?[0-9]+$', '', given)}-")
    if any(f"-{each}-" in text for each in known for text in whole):
        return []
    near = difflib.get_close_matches(given, sorted(known), n=1) or sorted(known)
    return [f"{function}[{each}]" for each in near[:1]]


def _script(path: str, tests: Iterable[str], text: str) -> Iterator[str]:
    """Say it of a file of JavaScript, whose tests have names in quotes."""
    quoted = {quoted for _, quoted in re.findall(r"(['\"`])((?:(?!\1)[^\\\n])+)\1", text)}
    # 'number ' + n is a name that the text does not have as a whole.
    begun = {each for each in quoted if each.strip() and not each[-1].isalnum() and each[-1] != ")"}
    known = quoted - begun
    for test in tests:
        last = re.sub(r" #\d+$", "", test.removeprefix(f"{path}::").rpartition(" > ")[2])
        if last in text or any(last.startswith(each) for each in begun):
            continue
        for near in difflib.get_close_matches(last, known, n=1, cutoff=NEAR_SENTENCE):
            yield f"{test}: {path} has no test {last!r}; did you mean {near!r}?"
