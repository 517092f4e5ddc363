"""`sandbox report`: what stored runs add up to."""

import itertools
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli import completion
from sandbox.cli.grouped import grouped
from sandbox.cli.options import ExperimentOption, JsonOption, RunsOption, open_store
from sandbox.cli.stored_runs import records
from sandbox.cli.tables import count, interval, method, number, table
from sandbox.cli.terminal import line
from sandbox.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sandbox.model.report import AgentReport, Slice
    from sandbox.model.run import RunRecord
    from sandbox.model.run_folder import RunFolder
    from sandbox.model.store import Store


BRIEF_SIZES = ("steps", "seconds", "tokens", "cost")
CAUSES = 8
"""Causes that are shown where not all is asked for."""


def agent_rows(agent: "AgentReport", *, whole: bool) -> list[str]:
    """Render an agent's runs: what passed, how it went wrong, sizes; `whole`, every rate too."""
    beside = [
        f"{number} {word}"
        for number, word in (
            (agent.invalid, "of them invalid"),
            (agent.crashed, "crashed without an answer, not counted"),
            (agent.errors, "ended in errors that say nothing of the agent, not counted"),
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
    head += _causes(agent.causes, None if whole else CAUSES)
    if not whole:
        return [*head, *_brief(agent)]
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


def _causes(causes: "Mapping[str, int]", most: int | None) -> list[str]:
    """Say by what runs went wrong first, in a line."""
    if not causes:
        return []
    told = [f"{line(cause)} {number}" for cause, number in causes.items()][:most]
    left = len(causes) - len(told)
    return [f"went wrong first: {', '.join(told)}" + (f", and {left} more" if left else "")]


def _brief(agent: "AgentReport") -> list[str]:
    if not agent.graded:
        return []
    first = agent.reliability[0].pass_at_k
    passed = f"passed: {number(first.value)} of tasks' runs"
    if first.interval:
        passed += f", 95 % {interval(first.interval)} ({method(first.interval)})"
    rows = [
        [named(name), number(found.p50), number(found.p95), number(found.worst), str(found.runs)]
        for name, found in agent.sizes.items()
        if name in BRIEF_SIZES
    ]
    return [passed, "", *table(["size", "p50", "p95", "worst 5 %", "runs"], rows)]


def slice_rows(slices: "Sequence[Slice]") -> list[str]:
    """Render what agents come to along a dimension: a row for a value, a column for an agent."""
    agents = list(dict.fromkeys(each.agent for each in slices))
    found = {(each.value, each.agent): each for each in slices}
    values = list(dict.fromkeys(each.value for each in slices))
    rows = [[value, *(_share(found.get((value, agent))) for agent in agents)] for value in values]
    return table([slices[0].dimension, *agents], rows)


def _share(found: "Slice | None") -> str:
    if found is None:
        return "-"
    if found.dimension == "cause":  # of which no run has passed
        return str(found.graded + found.crashed + found.errors)
    if found.estimate is None:
        return "-"
    bounds = f" ({interval(found.estimate.interval)})" if found.estimate.interval else ""
    return f"{found.passed}/{found.graded} {number(found.estimate.value)}{bounds}"


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
    """Find the runs that are asked for; UsageError where there are none.

    Of several runs of an experiment's cell the one that counts, unless others are named.
    """
    folders = [store.find(name) for name in names] if names else list(store.folders())
    unique = {folder.id: folder for folder in folders}
    replaced = cache(partial(_replaced, store))
    found = []
    for folder, record in records(unique.values()):
        if not names and folder.id in replaced(record.experiment):
            continue
        called = {record.agent, record.acting, _with_version(record)}
        if (
            (not tasks or any(fnmatchcase(record.task, each) for each in tasks))
            and (not agents or called & set(agents))
            and experiment in (None, record.experiment)
        ):
            found.append(folder)
    if not found:
        if experiment is not None:
            from sandbox.run import experiment as experiments

            experiments.called(store, experiment)  # or says that there is none
        raise UsageError(
            f"No run in {store.root} is of that task, agent and experiment; none may be over yet."
            if tasks or agents or experiment
            else f"There are no runs in {store.root}.",
            "Start some: sandbox run TASK --agent CMD --trials 4.",
        )
    return found


def _replaced(store: "Store", name: str) -> set[str]:
    """Give the runs of an experiment in whose place others count."""
    from sandbox.run import experiment

    found = experiment.find(store, name) if name else None
    return found.replaced() if found else set()


def _with_version(record: "RunRecord") -> str:
    """Name an agent as reports do where there are several of its label."""
    return f"{record.acting} ({record.version or 'unknown'})"


TasksOption = Annotated[
    list[str] | None, typer.Option("--task", help="Only runs of this task; may be repeated.")
]


@dataclass(frozen=True, slots=True)
class Detail:
    """How much is told."""

    k: Annotated[
        int | None, typer.Option("-k", help="The k of pass@k and pass^k, at most the trials.")
    ] = None
    by: Annotated[
        list[str] | None,
        typer.Option(
            help="Also by facet, level, operator, category, task, family, mode, cause or tag:KEY."
        ),
    ] = None
    whole: Annotated[
        bool, typer.Option("--all", help="Also tasks, reliability for each k, rates and tails.")
    ] = False

    @property
    def everything(self) -> bool:
        """Whether all rates are wanted."""
        return self.whole or self.k is not None


@grouped
def report(
    run: Annotated[
        list[str] | None,
        typer.Argument(
            help="Runs: `last` or the start of a name; else all.", autocompletion=completion.runs
        ),
    ] = None,
    *,
    task: TasksOption = None,
    agent: Annotated[
        list[str] | None, typer.Option(help="Only runs of this agent; may be repeated.")
    ] = None,
    experiment: ExperimentOption = None,
    detail: Detail,
    as_json: JsonOption = False,
    runs: RunsOption = None,
) -> None:
    """Report what stored runs add up to: what passed, how it went wrong, what it took."""
    from sandbox.grading import reports

    folders = chosen(open_store(runs), run or [], task or [], agent or [], experiment)
    whole = detail.everything or as_json
    found = reports.report(reports.read(folders), detail.k, detail.by or (), whole=whole)
    if as_json:
        from sandbox.cli import outputs

        outputs.write("report", found)
        return
    for position, each in enumerate(found.agents):
        for text in ([""] if position else []) + agent_rows(each, whole=detail.everything):
            typer.echo(text)
    for _, group in itertools.groupby(found.slices, lambda each: each.dimension):
        for text in ("", *slice_rows(list(group))):
            typer.echo(text)
    if not detail.everything:
        typer.echo("\nevery rate, task and tail: --all; by facet, operator, ...: --by")
