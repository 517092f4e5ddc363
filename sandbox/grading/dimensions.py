"""By what runs can be told apart in a report: the dimensions, and a run's values of each."""

import difflib
import functools
from collections.abc import Callable, Sequence

from sandbox.model import places
from sandbox.model.errors import DocumentError, UsageError
from sandbox.model.report import RunMetrics
from sandbox.tasks import library
from sandbox.tasks.suites import suite
from sandbox.tasks.suites.categories import category

UNKNOWN = "unknown"
TAG = "tag:"
"""Before the key of a `--tag KEY=VALUE`."""


def values(run: RunMetrics, dimension: str) -> Sequence[str]:
    """Give a run's values, of which there may be several or none; UsageError for no dimension."""
    if dimension.startswith(TAG):
        return (run.tags.get(dimension.removeprefix(TAG), UNKNOWN),)
    if dimension not in DIMENSIONS:
        near = difflib.get_close_matches(dimension, DIMENSIONS, 1)
        hint = (
            f"Did you mean {near[0]}?" if near else f"There are {', '.join(DIMENSIONS)}, {TAG}KEY."
        )
        raise UsageError(f"There is no dimension {dimension!r}.", hint)
    return DIMENSIONS[dimension](run)


def operators(task: str) -> list[str]:
    """Name the operators of a variant, with their strengths."""
    return task.partition(" (")[0].partition("@")[0].split("+")[1:]


@functools.cache
def _levels() -> dict[str, str]:
    """Give the levels of the variants in all suites of the project."""
    found = {}
    for file in sorted((places.project() / "suites").glob("*.yaml")):
        try:
            found.update({pin.variant: pin.level for pin in suite.read(file).variants})
        except DocumentError:
            continue
    return found


@functools.cache
def _category(task: str) -> str:
    try:
        tags = library.load(task.partition("+")[0].partition("@")[0].partition(" (")[0]).task.tags
    except (UsageError, DocumentError):
        return UNKNOWN
    return category(operators(task), tags)


DIMENSIONS: dict[str, Callable[[RunMetrics], Sequence[str]]] = {
    "task": lambda run: (run.task,),
    "family": lambda run: (run.family,),
    "facet": lambda run: (run.facet or UNKNOWN,),
    "level": lambda run: (_levels().get(run.task.partition(" (")[0], UNKNOWN),),
    "operator": lambda run: operators(run.task),
    "category": lambda run: (_category(run.task),),
    "mode": lambda run: (run.mode,),
    "cause": lambda run: (run.cause,) if run.cause else (),
}
