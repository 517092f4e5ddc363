"""The world graph of a run's task, with how far the run has come in it."""

from collections.abc import Sequence
from typing import Literal

from markupsafe import Markup

from sandbox.model.errors import UsageError
from sandbox.model.event import Entry, MilestonePassed
from sandbox.model.grade import RunGrade
from sandbox.model.how import How
from sandbox.model.run import RunRecord
from sandbox.model.verdict import Verdict
from sandbox.tasks.library import LoadedTask

OUTCOME = ("tests", "collateral", "final")
ENDS: dict[How, Literal["answer", "stop"]] = {"answered": "answer", "gave_up": "stop"}


def walked_graph(
    record: RunRecord,
    loaded: LoadedTask | None,
    grade: RunGrade | None,
    entries: Sequence[Entry],
) -> tuple[Markup, str]:
    """Draw it; where it cannot be drawn, say why."""
    from sandbox.rules.checker.check import check, graph_of
    from sandbox.rules.checker.evidence import untaken
    from sandbox.rules.checker.svg import svg
    from sandbox.rules.checker.walk import Walk

    nothing = Markup()
    if loaded is None:
        return nothing, f"There is no task {record.task} here any more."
    if loaded.digest != record.task_digest:
        return nothing, f"The task {record.task} is another one by now."
    try:
        graph = graph_of(loaded.task)
    except UsageError as error:
        return nothing, error.message
    ends = ENDS.get(record.end.how) if record.end else None
    report, broken = check(loaded.task), frozenset(_broken(grade))
    never = untaken(graph, report, entries, broken, right=_right(grade))
    drawn = svg(graph, report, Walk(_reached(entries), broken, ends, never))
    return Markup(drawn), ""  # noqa: S704 - drawn here, of a task that was checked


def _reached(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Milestones in the order in which they were reached."""
    passed = [entry.event for entry in entries if isinstance(entry.event, MilestonePassed)]
    return tuple(event.milestone for event in passed if event.reached)


def _right(grade: RunGrade | None) -> bool | None:
    """Whether the outcome is right, whatever the way to it."""
    if grade is None:
        return None
    return all(part.verdict is Verdict.PASSED for part in grade.grades if part.grader in OUTCOME)


def _broken(grade: RunGrade | None) -> list[str]:
    parts = grade.grades if grade else ()
    return [reason.rule for part in parts for reason in part.reasons if reason.rule]
