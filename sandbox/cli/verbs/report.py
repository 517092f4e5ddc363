"""`sandbox report`: what stored runs add up to."""

from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.options import RunsOption, open_store
from sandbox.cli.tables import count, interval, method, number, table
from sandbox.cli.terminal import document, line
from sandbox.model.errors import StoreError, UsageError

if TYPE_CHECKING:
    from sandbox.model.report import AgentReport
    from sandbox.model.run import RunRecord
    from sandbox.model.store import RunFolder, Store


def agent_rows(agent: "AgentReport") -> list[str]:
    """Render an agent's runs: tasks, reliability, rates, sizes."""
    beside = [
        f"{number} {word}"
        for number, word in (
            (agent.invalid, "of them invalid"),
            (agent.crashed, "crashed without an answer, not counted"),
            (agent.errors, "ended by errors of the machinery, not counted"),
            (agent.unfinished, "not ended, not counted"),
        )
        if number
    ]
    told = ", ".join([f"{agent.passed} of {agent.graded} graded runs passed", *beside])
    seen = [f"{name} in {number}" for name, number in sorted(agent.coverage.items())]
    head = [f"agent {line(agent.agent)}: {told}"]
    ends = [f"{how.replace('_', ' ')} {number}" for how, number in agent.ends.items()]
    head += [f"ended: {', '.join(ends)}"] if ends else []
    head += [f"processes seen: {', '.join(seen)}"] if seen else []
    head += ["", *_tasks(agent)]
    if not agent.graded:
        return head
    return [
        *head,
        "",
        *_reliability(agent),
        "",
        *_rates(agent),
        "",
        *_sizes(agent),
    ]


def _tasks(agent: "AgentReport") -> list[str]:
    rows = [
        [
            task.task,
            task.facet or "-",
            f"{task.passed}/{task.graded}",
            *(str(each) for each in (task.invalid, task.crashed, task.errors, task.unfinished)),
        ]
        for task in agent.tasks
    ]
    return table(
        ["task", "facet", "passed", "invalid", "crashed", "errors", "unfinished"], rows, left=2
    )


def _reliability(agent: "AgentReport") -> list[str]:
    rows = []
    for each in agent.reliability:
        kinds = [(f"pass^{each.k}", each.pass_hat_k)]
        if each.k > 1:
            kinds.insert(0, (f"pass@{each.k}", each.pass_at_k))
        for name, found in kinds:
            bounds = (
                f"{number(found.if_errors_fail)} to {number(found.if_errors_pass)}"
                if agent.errors or agent.crashed
                else "-"
            )
            gap = number(each.gap) if name.startswith("pass^") and each.k > 1 else ""
            rows.append(
                [
                    name,
                    number(found.value),
                    interval(found.interval),
                    gap,
                    str(each.k),
                    str(each.trials),
                    bounds,
                    method(found.interval),
                ]
            )
    head = ["reliability", "value", "95 %", "gap", "k", "n", "errors as fail/pass", "interval"]
    return table(head, rows)


def _rates(agent: "AgentReport") -> list[str]:
    rows = [
        [
            named(name),
            number(rate.value),
            f"{count(rate.numerator)} / {count(rate.denominator)}",
            interval(rate.interval),
            method(rate.interval),
        ]
        for name, rate in agent.rates.items()
        if rate.value is not None
    ]
    none = [named(name) for name, rate in agent.rates.items() if rate.value is None]
    told = table(["rate", "value", "of", "95 %", "interval"], rows)
    return told + ([f"  0/0: {', '.join(none)}"] if none else [])


def _sizes(agent: "AgentReport") -> list[str]:
    rows = [
        [
            named(name),
            *(number(value) for value in (d.p50, d.p90, d.p95, d.p99, d.maximum, d.worst)),
            str(d.runs),
            interval(d.worst_interval),
        ]
        for name, d in agent.sizes.items()
    ]
    head = ["size", "p50", "p90", "p95", "p99", "max", "worst 5 %", "runs", "worst 5 %, 95 %"]
    return table(head, rows)


def named(name: str) -> str:
    """A rate's or size's name in words."""
    return name.replace("_", " ")


def chosen(
    store: "Store",
    names: list[str],
    tasks: list[str],
    agents: list[str],
    experiment: str | None = None,
) -> "list[RunFolder]":
    """Find the runs that are asked for; UsageError where there are none."""
    from sandbox.run import dead_runs

    folders = [store.find(name) for name in names] if names else list(store.folders())
    unique = {folder.id: folder for folder in folders}
    dead_runs.bury(unique.values())
    found = []
    for folder in unique.values():
        try:
            record = folder.record()
        except StoreError as error:
            typer.echo(f"left out, it cannot be read: {folder.id}: {line(error.message)}", err=True)
            continue
        called = {record.agent, record.acting, _with_version(record)}
        if (
            (not tasks or record.task in tasks)
            and (not agents or called & set(agents))
            and experiment in (None, record.experiment)
        ):
            found.append(folder)
    if not found:
        raise UsageError(
            f"No run in {store.root} is of that task, agent and experiment."
            if tasks or agents or experiment
            else f"There are no runs in {store.root}.",
            "Start some: sandbox run TASK --agent CMD --trials 4.",
        )
    return found


def _with_version(record: "RunRecord") -> str:
    """Name an agent as reports do where there are several of its label."""
    return f"{record.acting} ({record.version or 'unknown'})"


TasksOption = Annotated[
    list[str] | None, typer.Option("--task", help="Only runs of this task; may be repeated.")
]


def report(
    run: Annotated[
        list[str] | None, typer.Argument(help="Runs: `last` or the start of a name; else all.")
    ] = None,
    *,
    task: TasksOption = None,
    agent: Annotated[
        list[str] | None, typer.Option(help="Only runs of this agent; may be repeated.")
    ] = None,
    experiment: Annotated[str | None, typer.Option(help="Only runs of this experiment.")] = None,
    k: Annotated[
        int | None, typer.Option("-k", help="The k of pass@k and pass^k, at most the trials.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    runs: RunsOption = None,
) -> None:
    """Report what stored runs add up to: reliability, path metrics, sizes with their tails."""
    from sandbox.grading import reports

    folders = chosen(open_store(runs), run or [], task or [], agent or [], experiment)
    found = reports.report(reports.read(folders), k)
    if as_json:
        typer.echo(document(found))
        return
    for position, each in enumerate(found.agents):
        for text in ([""] if position else []) + agent_rows(each):
            typer.echo(text)
