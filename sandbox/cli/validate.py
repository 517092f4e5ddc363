"""`sandbox validate`: prove a task in real containers."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.check import witness_row
from sandbox.cli.places import RunsOption, open_store
from sandbox.cli.terminal import Progress, coloured, line

if TYPE_CHECKING:
    from sandbox.checker.report import Report
    from sandbox.validate import Validated


def validate(
    tasks: Annotated[list[str], typer.Argument(help="Tasks with a world graph.")],
    *,
    jobs: Annotated[int, typer.Option(min=1, help="How many runs go on at once.")] = 2,
    every_edge: Annotated[
        bool,
        typer.Option("--every-edge", help="Also walk along each edge that none of those takes."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    runs: RunsOption = None,
) -> None:
    """Run oracle, null agent and an agent for every rule; each has to end as it should.

    Exit codes: 0 all hold, 1 something does not or the graph has findings, 2 usage,
    3 infrastructure.
    """
    from sandbox import engines, places
    from sandbox import tasks as library
    from sandbox.checker.check import graph_of
    from sandbox.images import Images
    from sandbox.validate import Validation

    loaded = [library.load(name) for name in dict.fromkeys(tasks)]
    for task in loaded:
        graph_of(task.task)
    store = open_store(runs)
    progress = Progress()
    engine = engines.connect()
    try:
        images = Images(engine, places.cache())
        pairs = [(task, images.ensure(task, progress.doing)) for task in loaded]
        validation = Validation(pairs, engine, store, every_edge=every_edge)
        left = len(validation)

        def tell(validated: "Validated") -> None:
            nonlocal left
            left -= 1
            progress.doing(f"{validated.task}: {validated.agent} has ended, {left} to go")

        progress.doing(f"{left} runs, {jobs} at once")
        found = validation.run(jobs, tell)
    finally:
        progress.close()
        engine.close()
    reports = validation.reports
    sound = all(report.sound for report in reports.values())
    holds = sound and all(each.holds for each in found)
    if as_json:
        cases = [each.model_dump(mode="json") | {"holds": each.holds} for each in found]
        sounds = {name: report.sound for name, report in reports.items()}
        typer.echo(json.dumps({"holds": holds, "sound": sounds, "cases": cases}, indent=1))
    else:
        for name, report in reports.items():
            for row in table(report, [each for each in found if each.task == name]):
                typer.echo(row)
    if any(each.verdict == "error" or each.verdict is None for each in found):
        raise typer.Exit(3)
    if not holds:
        raise typer.Exit(1)


def table(report: "Report", found: "list[Validated]") -> list[str]:
    """Render what came of a task's cases."""
    rows = [f"{report.task}: {sum(each.holds for each in found)} of {len(found)} hold"]
    widest = max(len(each.agent) for each in found)
    for each in found:
        word = coloured("ok " if each.holds else "bad")
        verdict = coloured(f"{each.verdict or 'not run':<8}")
        run = (each.run or "")[:8]
        rows.append(f"  {word}  {each.agent:<{widest}}  {verdict}  {run:<8}  {each.expected}")
        rows += [f"         {line(problem)}" for problem in each.problems]
    rows += [
        f"  --   {witness_row(witness)}" for witness in report.witnesses if witness.path is None
    ]
    if not report.sound:
        rows.append(f"  {coloured('bad')}  the graph has findings: sandbox check {report.task}")
    return rows
