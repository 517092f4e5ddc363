"""Which tasks a person means: names, patterns, suites, all of them."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from sandbox.model.errors import UsageError
from sandbox.tasks import library
from sandbox.tasks.library import LoadedTask
from sandbox.tasks.suites import suite

ALL = "all"


def chosen(
    words: Sequence[str], facets: Sequence[str] = (), levels: Sequence[str] = ()
) -> list[LoadedTask]:
    """Read the tasks that words name, each once and in their order.

    A word is a task or a variant, a pattern over the names of tasks, `all`, or the YAML file of a
    suite. Of them those stay that are of one of the facets and, of suites, of one of the levels.
    UsageError where a word, or all of them together, name nothing.
    """
    found = {task.task.id: task for word in words for task in _named(word, facets, levels)}
    if not found:
        wanted = " and ".join(
            f"{what} {', '.join(given)}"
            for what, given in (("facet", facets), ("level", levels))
            if given
        )
        raise UsageError(
            f"None of the tasks that are named is of the {wanted}.",
            "`sandbox tasks` lists facets, `sandbox tasks --suite FILE` levels, too.",
        )
    return list(found.values())


def _named(word: str, facets: Sequence[str], levels: Sequence[str]) -> Iterable[LoadedTask]:
    if word.endswith((".yaml", ".yml")):
        yield from _of_suite(Path(word), facets, levels)
        return
    if levels:
        raise UsageError(f"{word} has no level.", "--level goes with the file of a suite.")
    for name in _names(word):
        task = library.load(name)
        if not facets or task.task.facet in facets:
            yield task


def _names(word: str) -> list[str]:
    known = library.names()
    if word == ALL:
        return known
    if not set(word) & set("*?["):
        return [word]
    found = [name for name in known if fnmatchcase(name, word)]
    if not found:
        raise UsageError(f"No task's name is like {word}.", "`sandbox tasks` lists the tasks.")
    return found


def _of_suite(path: Path, facets: Sequence[str], levels: Sequence[str]) -> Iterable[LoadedTask]:
    for pin in suite.read(path).variants:
        if (not facets or pin.facet in facets) and (not levels or pin.level in levels):
            task = library.load(pin.variant)
            if task.digest != pin.digest:
                raise UsageError(
                    f"{path}: {pin.variant} is not what was pinned:"
                    f" {task.digest[:16]}, not {pin.digest[:16]}.",
                    "Draw the suite anew, or use the version that it was drawn with.",
                )
            yield task
