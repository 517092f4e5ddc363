"""`sandbox compare`: two agents on the tasks that both have run."""

from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.options import RunsOption, open_store
from sandbox.cli.tables import interval, number, table
from sandbox.cli.terminal import document, line
from sandbox.cli.verbs.report import TasksOption, chosen

if TYPE_CHECKING:
    from sandbox.model.report import Comparison, Difference


def comparison_rows(found: "Comparison") -> list[str]:
    """Render a comparison: all tasks, then facet by facet, then what was left out."""
    head = [
        "A - B",
        "tasks",
        "units",
        "A",
        "B",
        "difference",
        "95 %",
        "p",
        "p (Holm)",
        "detectable",
    ]
    rows = [_row("all tasks", found.whole)]
    rows += [_row(name, each) for name, each in found.facets.items()]
    told = [
        f"A is {line(found.agent_a)}, B is {line(found.agent_b)}",
        "",
        *table(head, rows),
        "",
    ]
    told.append("p: sign-flip permutation over tasks; 95 %: paired bootstrap over tasks")
    if found.whole.mcnemar is not None:
        told.append(f"exact McNemar, one trial per task: p = {number(found.whole.mcnemar)}")
    told += [
        f"left out, only {name} has graded runs: {line(', '.join(tasks))}"
        for name, tasks in (("A", found.only_a), ("B", found.only_b))
        if tasks
    ]
    told += [
        f"errors of the machinery, not counted: {errors} of {name}"
        for name, errors in (("A", found.errors_a), ("B", found.errors_b))
        if errors
    ]
    return told


def _row(name: str, each: "Difference") -> list[str]:
    return [
        name,
        str(each.tasks),
        str(each.units),
        number(each.mean_a),
        number(each.mean_b),
        number(each.difference),
        interval(each.interval),
        number(each.p_value),
        number(each.p_adjusted),
        number(each.detectable),
    ]


def compare(
    agent_a: Annotated[str, typer.Argument(help="An agent, as its runs name it.")],
    agent_b: Annotated[str, typer.Argument(help="Another one.")],
    *,
    task: TasksOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    runs: RunsOption = None,
) -> None:
    """Compare two agents on the tasks of which both have stored runs, paired by task."""
    from sandbox.grading import reports

    folders = chosen(open_store(runs), [], task or [], [])
    found = reports.comparison(reports.read(folders), agent_a, agent_b)
    if as_json:
        typer.echo(document(found))
        return
    for text in comparison_rows(found):
        typer.echo(text)
