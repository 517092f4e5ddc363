"""The world graph of a run's task, with how far the run has come in it."""

from collections.abc import Sequence

from markupsafe import Markup

from sandbox.model.errors import UsageError
from sandbox.model.event import Entry, MilestonePassed
from sandbox.model.grade import RunGrade
from sandbox.model.run import RunRecord
from sandbox.tasks.library import LoadedTask


def walked_graph(
    record: RunRecord,
    loaded: LoadedTask | None,
    grade: RunGrade | None,
    entries: Sequence[Entry],
) -> tuple[Markup, str]:
    """Draw it; where it cannot be drawn, say why."""
    from sandbox.rules.checker.check import check, graph_of
    from sandbox.rules.checker.svg import Walk, svg

    nothing = Markup()
    if loaded is None:
        return nothing, f"There is no task {record.task} here any more."
    if loaded.digest != record.task_digest:
        return nothing, f"The task {record.task} is another one by now."
    try:
        graph = graph_of(loaded.task)
    except UsageError as error:
        return nothing, error.message
    walk = Walk(_reached(entries), frozenset(_broken(grade)))
    drawn = svg(graph, check(loaded.task), walk)
    return Markup(drawn), ""  # noqa: S704 - drawn here, of a task that was checked


def _reached(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Milestones in the order in which they were last reached, those undone since left out."""
    found: dict[str, None] = {}
    for entry in entries:
        if isinstance(entry.event, MilestonePassed):
            found.pop(entry.event.milestone, None)
            if entry.event.reached:
                found[entry.event.milestone] = None
    return tuple(found)


def _broken(grade: RunGrade | None) -> list[str]:
    parts = grade.grades if grade else ()
    return [reason.rule for part in parts for reason in part.reasons if reason.rule]
