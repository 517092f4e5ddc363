"""`sandbox gate`: whether stored runs reach the thresholds of a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.options import ExperimentOption, JsonOption, RunsOption, open_store
from sandbox.cli.tables import interval, number
from sandbox.cli.terminal import coloured, line
from sandbox.cli.verbs.report import chosen

if TYPE_CHECKING:
    from sandbox.model.gate import Condition, Finding


def gate(
    file: Annotated[Path, typer.Argument(help="A YAML file with `conditions`.")],
    *,
    experiment: ExperimentOption = None,
    as_json: JsonOption = False,
    runs: RunsOption = None,
) -> None:
    """Judge stored runs by thresholds on any metric of any slice of them.

    A threshold has to be reached by the bound of the metric's interval, so that luck with few runs
    is not enough. Exit codes: 0 where all hold, 1 where one does not, 2 for a mistake in the file.
    """
    from sandbox.grading import reports
    from sandbox.grading.gate import judge
    from sandbox.model import documents
    from sandbox.model.gate import Gate

    asked = documents.load(file, Gate)
    found = judge(asked, reports.read(chosen(open_store(runs), [], [], [], experiment)))
    if as_json:
        from sandbox.cli import outputs

        outputs.write("gate", [*found])
    else:
        for each in found:
            typer.echo(row(asked.conditions[each.condition - 1], each))
    raise typer.Exit(0 if all(each.holds for each in found) else 1)


def row(condition: "Condition", found: "Finding") -> str:
    """One line for one condition and one agent."""
    least = condition.at_least is not None
    threshold = condition.at_least if least else condition.at_most
    wanted = f"{condition.metric} at {'least' if least else 'most'} {threshold:g}"
    word = coloured("ok    " if found.holds else "failed")
    head = f"{word}  {found.condition}. {wanted}"
    if not found.agent:
        return f"{head}: {line(found.reason)}"
    measured = f"{number(found.value)} ({interval(found.interval)}), {found.runs} runs"
    left_out = f", {found.left_out} crashed or in error" if found.left_out else ""
    why = f": {line(found.reason)}" if found.reason else ""
    return f"{head}, {line(found.agent)}: {measured}{left_out}{why}"
