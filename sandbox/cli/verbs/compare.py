"""`sandbox compare`: two agents on the tasks that both have run."""

from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.options import ExperimentOption, JsonOption, RunsOption, open_store
from sandbox.cli.tables import interval, number, table
from sandbox.cli.terminal import line
from sandbox.cli.verbs.report import TasksOption, chosen
from sandbox.model.errors import UsageError

if TYPE_CHECKING:
    from sandbox.model.baseline import Drift
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
    if found.whole.units < 2:
        told.append(
            "one task, or variants of one, say nothing of others: there is no interval and no p;"
            " the difference is that of these runs"
        )
    if found.whole.mcnemar is not None:
        told.append(f"exact McNemar, one trial per task: p = {number(found.whole.mcnemar)}")
    told += [
        f"left out, only {name} has graded runs: {line(', '.join(tasks))}"
        for name, tasks in (("A", found.only_a), ("B", found.only_b))
        if tasks
    ]
    told += [
        f"errors that say nothing of the agent, not counted: {errors} of {name}"
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


SENTENCES = {
    "nothing": "no change that could be told from chance",
    "agent": "the agent has changed: the canary has not",
    "world": "the world has changed: the canary has, too",
    "unknown": "changed; no canary tells whether it was the agent or the world",
}


def drift_rows(found: "Drift") -> list[str]:
    """Render how agents differ from themselves in a baseline."""
    head = ["now - then", "tasks", "now", "then", "difference", "95 %", "crashed"]
    rows = [
        [
            each.agent,
            str(each.difference.tasks),
            number(each.difference.mean_a),
            number(each.difference.mean_b),
            number(each.difference.difference),
            interval(each.difference.interval),
            f"{each.then_crashed} -> {each.now_crashed}",
        ]
        for each in found.deltas
    ]
    told = [f"against the baseline {found.baseline}; canary {found.canary or 'none'}", ""]
    told += [*table(head, rows), ""]
    told += [f"{line(each.agent)}: {SENTENCES[each.cause]}" for each in found.deltas]
    for what, left_out in (
        ("tasks that are others now, left out", found.other_tasks),
        ("agents without runs now", found.gone),
        ("agents that the baseline has not", found.new),
    ):
        told += [f"{what}: {line(', '.join(left_out))}"] if left_out else []
    return told


def compare(
    agent_a: Annotated[
        str | None, typer.Argument(help="An agent, as its runs name it; with --baseline optional.")
    ] = None,
    agent_b: Annotated[str | None, typer.Argument(help="Another one.")] = None,
    *,
    baseline: Annotated[
        str | None, typer.Option(help="Compare agents with themselves in this baseline.")
    ] = None,
    canary: Annotated[
        str, typer.Option(help="With --baseline: an agent that always does the same.")
    ] = "oracle",
    experiment: ExperimentOption = None,
    task: TasksOption = None,
    as_json: JsonOption = False,
    runs: RunsOption = None,
) -> None:
    """Compare two agents on the tasks of which both have stored runs, paired by task.

    With --baseline agents are compared with themselves as they were when it was pinned. Where the
    canary has changed as well, it is the world that has changed.
    """
    from sandbox.grading import baselines, reports

    if (agent_b is None) is (baseline is None):
        raise UsageError("Name two agents, or --baseline and at most one agent.")
    store = open_store(runs)
    measured = reports.read(chosen(store, [], task or [], [], experiment))
    found: Comparison | Drift
    if baseline is None:
        both = reports.comparison(measured, agent_a or "", agent_b or "")
        found, rows = both, comparison_rows(both)
    else:
        wanted = [
            run
            for run in measured
            if agent_a is None or {run.agent, run.acting} & {agent_a, canary}
        ]
        drift = baselines.drift(baselines.find(store, baseline), wanted, canary)
        found, rows = drift, drift_rows(drift)
    if as_json:
        from sandbox.cli import outputs

        outputs.write("compare agents" if baseline is None else "compare baseline", found)
        return
    for text in rows:
        typer.echo(text)
