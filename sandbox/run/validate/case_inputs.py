"""Whether cases are drawn so widely that nobody can write their answers into a table."""

from sandbox.grading.draws import possible
from sandbox.model.case import Case
from sandbox.run.validate.checks import Check, Row, row_status
from sandbox.tasks.library import LoadedTask

ENOUGH = 10**6
"""Inputs that each case which shows the defect has at least."""


def inputs_row(loaded: LoadedTask) -> Row:
    """Look at the cases that fail before the fix; one that says why it is finite is let off."""
    task, declared = loaded.task, loaded.task.tests.cases
    shown = frozenset(() if declared is None else declared.fail_to_pass)
    cases = [case for case in (loaded.cases.cases if loaded.cases else ()) if case.id in shown]
    counts = {case.id: _inputs(case) for case in cases}
    few = [case for case in cases if counts[case.id] < ENOUGH]
    problems = [f"{case.id} has {counts[case.id]:,} inputs" for case in few if not case.finite]
    reasons = [f"{case.id} has {counts[case.id]:,}: {case.finite}" for case in few if case.finite]
    return Row(
        task=task.id,
        check=Check.INPUTS,
        what="cases that show the defect",
        expected=f"each is drawn from {ENOUGH:,} inputs or more, or says why there are fewer",
        result=f"{len(cases) - len(few)} of {len(cases)}" if cases else "none",
        status=row_status(problems) if cases else "skipped",
        notes=(*problems, *reasons) if cases else ("the task has no such cases",),
    )


def _inputs(case: Case) -> int:
    return len(case.table) + (0 if case.expect is None else possible(case.input))
