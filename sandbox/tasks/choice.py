"""Which tasks a person means: names, patterns, suites, all of them."""

from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from sandbox.model import documents, places
from sandbox.model.errors import UsageError
from sandbox.tasks import library
from sandbox.tasks.library import LoadedTask
from sandbox.tasks.plans.variant import Variant

ALL, TAG, LIST = "all", "tag:", ".txt"
SUITES = (".yaml", ".yml")
WILD = frozenset("*?[")
STANDARD = places.SUITES["standard"]
"""The suite of which tasks have levels that are named without one."""


def chosen(
    words: Sequence[str], facets: Sequence[str] = (), levels: Sequence[str] = ()
) -> list[LoadedTask]:
    """Read the tasks that words name, each once and in their order.

    A word is a task or a variant, a pattern over the names of tasks, `tag:` with a tag or a pattern
    over tags, `all`, the YAML file of a suite, `gold` or `standard` for those of the project, or a
    text file with such words, one a line. Of them those stay that are of one of the facets and
    levels; of a task a level means its variants of that level in the standard suite.
    UsageError where a word, or all of them together, name nothing.
    """
    found = {task.task.id: task for word in words for task in _named(word, facets, levels)}
    if not words:
        raise UsageError("No task is named.", "Name some: sandbox tasks lists them.")
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


def names_one(words: Sequence[str], levels: Sequence[str] = ()) -> bool:
    """Tell whether words name one task by its name, whatever tasks there are."""
    if levels or len(set(words)) != 1:
        return False
    word = words[0]
    several = word in {ALL, *places.SUITES} or word.startswith(TAG) or bool(set(word) & WILD)
    return not several and not word.endswith((*SUITES, LIST))


def _named(word: str, facets: Sequence[str], levels: Sequence[str]) -> Iterable[LoadedTask]:
    if word.endswith(SUITES) or word in places.SUITES:
        yield from _of_suite(places.SUITES.get(word, Path(word)), facets, levels)
        return
    if word.endswith(LIST):
        for each in _listed(Path(word)):
            yield from _named(each, facets, levels)
        return
    names = _names(word)
    if levels:
        if "+" in word:
            raise UsageError(f"{word} has no level.", "Name its task, or the file of a suite.")
        yield from _of_suite(STANDARD, facets, levels, names)
        return
    for name in names:
        task = library.load(name)
        if not facets or task.task.facet in facets:
            yield task


def _names(word: str) -> list[str]:
    known = library.names()
    if word == ALL:
        return known
    if word.startswith(TAG):
        return _tagged(word.removeprefix(TAG), known)
    if not set(word) & WILD:
        return [word]
    found = [name for name in known if fnmatchcase(name, word)]
    if not found:
        raise UsageError(f"No task's name is like {word}.", "`sandbox tasks` lists the tasks.")
    return found


def _tagged(pattern: str, known: list[str]) -> list[str]:
    tags = {name: library.load(name).task.tags for name in known}
    found = [name for name in known if any(fnmatchcase(tag, pattern) for tag in tags[name])]
    if not found:
        every = sorted({tag for each in tags.values() for tag in each})
        raise UsageError(
            f"No task has a tag like {pattern!r}.", f"There are {', '.join(every) or 'none'}."
        )
    return found


def _listed(path: Path) -> list[str]:
    """Read a list of tasks; what stands behind `#` says nothing."""
    lines = documents.read(path).splitlines()
    words = [line.partition("#")[0].strip() for line in lines]
    for number, word in enumerate(words, 1):
        if word.endswith(LIST):
            raise UsageError(f"{path}:{number}: a list does not name other lists.", f"Take {word}.")
    found = [word for word in words if word]
    if not found:
        raise UsageError(f"{path} names no task.", "Write a task, a pattern or a suite a line.")
    return found


def _of_suite(
    path: Path,
    facets: Sequence[str],
    levels: Sequence[str],
    tasks: Collection[str] | None = None,
) -> Iterable[LoadedTask]:
    from sandbox.tasks.suites import suite  # loads the operators, which one task does not need

    for pin in suite.read(path).variants:
        if tasks is not None and Variant.parse(pin.variant).task not in tasks:
            continue
        if (not facets or pin.facet in facets) and (not levels or pin.level in levels):
            task = library.load(pin.variant)
            if task.digest != pin.digest:
                raise UsageError(
                    f"{path}: {pin.variant} is not what was pinned:"
                    f" {task.digest[:16]}, not {pin.digest[:16]}.",
                    "Draw the suite anew, or use the version that it was drawn with.",
                )
            yield task
