"""The page of one run: why it was judged so, what happened, what it left."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, JsonValue

from sandbox.cli.change_rows import git_rows, letter
from sandbox.cli.pages.failed_tests import assertions
from sandbox.cli.pages.page import rendered
from sandbox.cli.pages.patch_files import PatchFile, patch_files
from sandbox.cli.pages.steps import steps, values
from sandbox.cli.pages.walked_graph import walked_graph
from sandbox.cli.run_end import end_rows
from sandbox.container.changes.patch import name_of
from sandbox.grading.first_reason import first_reason
from sandbox.model.change import ChangeSet, Owner
from sandbox.model.errors import DocumentError, StoreError, UsageError
from sandbox.model.event import Entry, Final
from sandbox.model.grade import RunGrade, TestReport

if TYPE_CHECKING:
    from sandbox.model.run import RunRecord
    from sandbox.model.run_folder import RunFolder
    from sandbox.model.trace import Trace
    from sandbox.tasks.library import LoadedTask

Evidence = TypeVar("Evidence", bound=BaseModel)

QUIET = (Owner.GENERATED, Owner.GIT)
FEW, MANY = 5, 12
"""Reasons of a grader, and tests, that are shown before the rest is folded away."""
LOG = 20_000
"""Characters at the end of a log that are shown."""


def run_page(folder: "RunFolder", *, home: str = "") -> str:
    """Make the page of a run; StoreError where its record cannot be read.

    `home` is where the list of runs is, empty for a page that stands alone.
    """
    from sandbox.grading.stored_grade import stored_grade

    record = folder.record()
    grade = stored_grade(folder, record)
    if grade is not None:  # which may be `invalid` where the record says otherwise
        record = record.model_copy(update={"verdict": grade.verdict})
    task = _task(record.task)
    trace = _trace(folder)
    problems = [trace.problem] if trace.problem and record.ended else []
    tests = _stored(folder, folder.tests, TestReport, problems)
    changes = _stored(folder, folder.changes, ChangeSet, problems)
    graph, no_graph = walked_graph(record, task, grade, trace.entries)
    told = steps(trace.entries)
    return rendered(
        "run.html",
        home=home,
        few=FEW,
        many=MANY,
        record=record,
        ended=end_rows(record, folder),
        why=_why(record, grade),
        grade=grade,
        steps=told,
        longest=max((step.seconds for step in told), default=0.0),
        problems=problems,
        failed=_failed(grade, tests),
        tests=tests,
        collected=changes is not None,
        over=record.ended is not None,
        changes=_changed(changes),
        patch=_patch(folder, changes),
        git=_git(changes),
        graph=graph,
        no_graph=no_graph,
        prompt=task.task.prompt if task else "",
        final=list(values(_final(trace.entries))),
        logs=[(path.name, _tail(path)) for path in (folder.agent_log, folder.agent_output)],
    )


def _trace(folder: "RunFolder") -> "Trace":
    """Read what happened; where that cannot be read, nothing but why."""
    from sandbox.model import trace as traces

    try:
        return traces.read(folder.trace)
    except StoreError as error:
        return traces.Trace((), error.message)


def _why(record: "RunRecord", grade: RunGrade | None) -> str:
    if grade is None or grade.problem:
        return grade.problem if grade else record.problem or "The run has not ended."
    first = first_reason(grade)
    return first.reason.message if first else "All graders agree."


def _failed(grade: RunGrade | None, tests: TestReport | None) -> list[tuple[str, str, str]]:
    """Hidden tests that went wrong: id, outcome, what the runner said of it."""
    if grade is None or tests is None:
        return []
    named = [reason.test for part in grade.grades for reason in part.reasons if reason.test]
    cases = tests.cases.outcomes if tests.cases else {}
    said = assertions(tests.log, named)
    return [
        (test, cases[test].outcome, cases[test].problem)
        if test in cases
        else (test, tests.outcomes.get(test, "was not run"), said.get(test, ""))
        for test in dict.fromkeys(named)
    ]


def _changed(changes: ChangeSet | None) -> list[tuple[str, str, str]]:
    """What differs besides generated files and git's own: letter, owner, path."""
    shown = [each for each in (changes.changes if changes else ()) if each.owner not in QUIET]
    return [(letter(each), str(each.owner), each.path) for each in shown]


def _patch(folder: "RunFolder", changes: ChangeSet | None) -> list[PatchFile]:
    listed = changes.changes if changes else ()
    owners = {name_of(each.path): str(each.owner) for each in listed}
    try:
        return patch_files(folder.text(folder.patch), owners)
    except StoreError:
        return []


def _git(changes: ChangeSet | None) -> list[str]:
    if changes is None:
        return []
    rows = git_rows(changes.git) if changes.git else [changes.git_problem]
    return [row.removeprefix("git  ") for row in rows]


def _stored(
    folder: "RunFolder", path: Path, model: type[Evidence], problems: list[str]
) -> Evidence | None:
    """Read a file of the run's evidence, None where it is missing; say where it is damaged."""
    if not path.exists():
        return None
    try:
        return folder.load(path, model)
    except StoreError as error:
        problems.append(error.message)
        return None


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - LOG))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _task(name: str) -> "LoadedTask | None":
    """Read the task, None where it is not there any more or wrong by now."""
    from sandbox.tasks import library

    try:
        return library.load(name)
    except (UsageError, DocumentError):
        return None


def _final(entries: tuple[Entry, ...]) -> dict[str, JsonValue]:
    said = [entry.event for entry in entries if isinstance(entry.event, Final)]
    if not said:
        return {}
    return {**said[-1].fields, **({"note": said[-1].note} if said[-1].note else {})}
