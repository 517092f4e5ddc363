"""`sandbox check`: look at every path through a task's world graph."""

from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli import completion
from sandbox.cli.options import JsonOption
from sandbox.cli.terminal import Progress, coloured, line

if TYPE_CHECKING:
    from sandbox.rules.checker.findings import Report, Witness


def check(
    tasks: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TASK]...",
            help="Tasks; all that have a graph if none is named.",
            autocompletion=completion.tasks,
        ),
    ] = None,
    *,
    bound: Annotated[
        int, typer.Option(min=1, help="States of the product that are looked at, at most.")
    ] = 200_000,
    as_json: JsonOption = False,
) -> None:
    """Search a task's world graph: shortcuts, rules that nothing breaks, how hard it is.

    Exit codes: 0 sound, 1 with findings, 2 usage.
    """
    from sandbox.rules.checker.check import check as search
    from sandbox.tasks import library

    loaded = [library.load(name).task for name in tasks or library.names()]
    chosen = [task for task in loaded if tasks or task.graph is not None]
    progress = Progress()
    reports = []
    for task in chosen:
        progress.doing(f"searching {task.id}")
        reports.append(search(task, bound))
    progress.close()
    if as_json:
        from sandbox.cli import outputs

        outputs.write("check", reports)
    else:
        for report in reports:
            for row in report_rows(report):
                typer.echo(row)
    if not all(report.sound for report in reports):
        raise typer.Exit(1)


def report_rows(report: "Report") -> list[str]:
    """Render what the checker says of a task."""
    figures = report.difficulty
    word = coloured("ok") + ", sound" if report.sound else coloured("bad")
    rows = [f"{report.task}: {word}"]
    for finding in report.findings:
        rows.append(f"  finding     {line(finding.message)}")
        rows += [f"              along {path(finding.path)}"] if finding.path else []
    rows.append(
        f"  searched    {report.states:,} states, {report.transitions:,} transitions of graph and"
        f" rules{'' if report.complete else '; the bound was hit'}"
    )
    if report.shortest is not None:
        oracle = "none" if report.oracle is None else f"{len(report.oracle)} edges"
        rows.append(f"  shortest    {len(report.shortest)} edges; of the oracle {oracle}")
        rows.append(f"              {path(report.shortest)}")
    rows += [f"  rule        {witness_row(witness)}" for witness in report.witnesses]
    rows.append(
        f"  difficulty  length {figures.length}, actions {figures.actions}, branches"
        f" {figures.branches}, violations {figures.violations}, short traps {figures.short_traps}"
    )
    rows.append(
        f"              only right choice: retry {figures.only_retry}, fallback"
        f" {figures.only_fallback}, stop {figures.only_stop}"
    )
    exact = "" if report.pattern.exact else " (refinement only: too large or too symmetric)"
    rows.append(f"  pattern     {report.pattern.digest[:16]}{exact}")
    return rows


def witness_row(witness: "Witness") -> str:
    """Say how a rule is broken."""
    if witness.path is not None:
        right = "the outcome right" if witness.outcome_right else "the outcome wrong too"
        return f"{witness.rule}: broken alone, {right}, in {len(witness.path)} edges"
    if witness.implied_by:
        return f"{witness.rule}: implied by {' or '.join(witness.implied_by)}"
    return f"{witness.rule}: not seen broken"


def path(edges: tuple[str, ...]) -> str:
    """Render a path."""
    return line(" > ".join(edges))
