"""Stored runs into a report, and into a comparison of two agents. Nothing is run or graded.

The same runs give the same report, byte for byte, in whatever order they are named.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from sandbox.grading import dimensions
from sandbox.grading.measured import measured
from sandbox.grading.metrics.comparison import Pair, compare, holm
from sandbox.grading.metrics.distribution import distribution
from sandbox.grading.metrics.pooled_rates import pooled, units
from sandbox.grading.metrics.reliability import Trials, levels, reliability
from sandbox.grading.metrics.run_metrics import NAMES
from sandbox.model.errors import UsageError
from sandbox.model.report import (
    AgentReport,
    Comparison,
    Difference,
    Distribution,
    Estimate,
    Reliability,
    Report,
    RunMetrics,
    Slice,
    TaskTrials,
)
from sandbox.model.run_folder import RunFolder
from sandbox.model.verdict import Verdict

SIZES = ("steps", "seconds", "tokens", "tokens_per_step", "cost")
NO_FACET = "unknown"


def read(folders: Iterable[RunFolder]) -> list[RunMetrics]:
    """Measure stored runs; StoreError where a folder cannot be read."""
    return sorted(_versioned(measured(folders)), key=lambda run: (run.agent, run.task, run.run))


def report(
    runs: Sequence[RunMetrics],
    k: int | None = None,
    by: Sequence[str] = (),
    *,
    whole: bool = True,
) -> Report:
    """Sum up runs by agent, and by agent along each dimension of `by`.

    Without `whole` there are no rates, and sizes have no intervals: over thousands of runs those
    take most of the time. UsageError for a `k` that is more than a task has trials, and for an
    unknown dimension.
    """
    ordered = sorted(runs, key=lambda run: (run.agent, run.task, run.run))
    agents = list(dict.fromkeys(run.agent for run in ordered))
    return Report(
        agents=tuple(
            _agent(agent, [run for run in ordered if run.agent == agent], k, whole=whole)
            for agent in agents
        ),
        slices=tuple(itertools.chain.from_iterable(_slices(ordered, each) for each in by)),
        runs=tuple(ordered),
    )


def _slices(runs: Sequence[RunMetrics], dimension: str) -> Iterator[Slice]:
    """Sum up each agent's runs that share a value; modes stand side by side for each label."""
    groups: dict[tuple[str, str], list[RunMetrics]] = {}
    for run in runs:
        agent = run.label if dimension == "mode" else run.agent
        for value in dimensions.values(run, dimension):
            groups.setdefault((value, agent), []).append(run)
    for (value, agent), group in sorted(groups.items()):
        yield Slice(
            dimension=dimension,
            value=value,
            agent=agent,
            passed=sum(run.passed for run in group),
            graded=sum(run.graded for run in group),
            crashed=sum(run.crashed for run in group),
            errors=sum(run.verdict is Verdict.ERROR for run in group),
            estimate=pass_rate(group),
            causes=_causes(group),
        )


def _causes(runs: Iterable[RunMetrics]) -> dict[str, int]:
    counted = Counter(run.cause for run in runs if run.cause)
    return dict(sorted(counted.items(), key=lambda each: (-each[1], each[0])))


def pass_rate(runs: Sequence[RunMetrics]) -> Estimate | None:
    """Estimate how many runs pass, as the mean over tasks; None where no run was graded."""
    found = reliability_of(runs, 1)
    return found.pass_at_k if found else None


def reliability_of(runs: Sequence[RunMetrics], k: int) -> Reliability | None:
    """Estimate what k trials come to; None without graded runs, UsageError for too great a k."""
    graded = any(run.graded for run in runs)
    return _reliability(_task_trials(runs), k)[-1] if graded else None


def comparison(runs: Sequence[RunMetrics], agent_a: str, agent_b: str) -> Comparison:
    """Compare two agents on the tasks of which both have graded runs; UsageError for none."""
    trials = {
        agent: {
            task.task: task
            for task in _task_trials([run for run in runs if run.agent == agent])
            if task.graded
        }
        for agent in (agent_a, agent_b)
    }
    mine, theirs = trials[agent_a], trials[agent_b]
    pairs = [_pair(mine[name], theirs[name]) for name in sorted(mine.keys() & theirs.keys())]
    if not pairs:
        raise UsageError(
            f"There is no task of which both {agent_a} and {agent_b} have graded runs.",
            "`sandbox report` lists the agents and what they have run.",
        )
    return Comparison(
        agent_a=agent_a,
        agent_b=agent_b,
        only_a=tuple(sorted(mine.keys() - theirs.keys())),
        only_b=tuple(sorted(theirs.keys() - mine.keys())),
        errors_a=_errors(runs, agent_a),
        errors_b=_errors(runs, agent_b),
        whole=compare(pairs),
        facets=_facets(pairs),
    )


def _facets(pairs: Sequence[Pair]) -> dict[str, Difference]:
    names = sorted({pair.facet for pair in pairs})
    found = [compare([pair for pair in pairs if pair.facet == name]) for name in names]
    adjusted = holm([each.p_value for each in found])
    return {
        name: each.model_copy(update={"p_adjusted": p})
        for name, each, p in zip(names, found, adjusted, strict=True)
    }


def _pair(a: TaskTrials, b: TaskTrials) -> Pair:
    return Pair(
        a.task, a.family, a.facet or b.facet or NO_FACET, a.passed, a.graded, b.passed, b.graded
    )


def _errors(runs: Sequence[RunMetrics], agent: str) -> int:
    return sum(run.agent == agent and run.verdict is Verdict.ERROR for run in runs)


def _agent(agent: str, runs: Sequence[RunMetrics], k: int | None, *, whole: bool) -> AgentReport:
    graded = [run for run in runs if run.graded]
    tasks = _task_trials(runs)
    return AgentReport(
        agent=agent,
        passed=sum(run.passed for run in runs),
        graded=len(graded),
        invalid=sum(run.verdict is Verdict.INVALID for run in runs),
        crashed=sum(run.crashed for run in runs),
        errors=sum(run.verdict is Verdict.ERROR for run in runs),
        unfinished=sum(run.verdict is None for run in runs),
        causes=_causes(runs),
        ends=dict(sorted(Counter(run.how for run in runs if run.how is not None).items())),
        coverage=dict(Counter(run.coverage for run in graded if run.coverage is not None)),
        tasks=tasks,
        reliability=_reliability(tasks, k) if graded else (),
        rates={name: pooled(graded, name) for name in NAMES} if whole else {},
        sizes=_sizes(graded, whole=whole),
    )


def _reliability(tasks: Sequence[TaskTrials], k: int | None) -> tuple[Reliability, ...]:
    trials = [Trials(t.task, t.family, t.passed, t.graded, t.errors + t.crashed) for t in tasks]
    fewest = min(each.graded for each in trials if each.graded)
    wanted = levels(fewest) if k is None else sorted({1, k})
    return tuple(reliability(trials, each) for each in wanted)


def _task_trials(runs: Sequence[RunMetrics]) -> tuple[TaskTrials, ...]:
    groups: dict[str, list[RunMetrics]] = {}
    for run in runs:
        groups.setdefault(run.task, []).append(run)
    return tuple(
        TaskTrials(
            task=task,
            family=group[0].family,
            facet=next((run.facet for run in group if run.facet), None),
            passed=sum(run.passed for run in group),
            graded=sum(run.graded for run in group),
            invalid=sum(run.verdict is Verdict.INVALID for run in group),
            crashed=sum(run.crashed for run in group),
            errors=sum(run.verdict is Verdict.ERROR for run in group),
            unfinished=sum(run.verdict is None for run in group),
        )
        for task, group in sorted(groups.items())
    )


def _sizes(runs: Sequence[RunMetrics], *, whole: bool) -> dict[str, Distribution]:
    found = {}
    for name in SIZES:
        known = [run for run in runs if name in run.sizes]
        if known:
            names = units(known)[0] if whole else ()
            found[name] = distribution([run.sizes[name] for run in known], names)
    return found


def _versioned(runs: Sequence[RunMetrics]) -> list[RunMetrics]:
    """Tell versions of a task, and of an agent, apart where there are several: they are others."""
    digests: dict[str, set[str]] = {}
    versions: dict[str, set[str]] = {}
    for run in runs:
        digests.setdefault(run.task, set()).add(run.task_digest)
        versions.setdefault(run.agent, set()).add(run.version)

    def named(run: RunMetrics) -> RunMetrics:
        task, agent = run.task, run.agent
        if len(digests[task]) > 1:
            task = f"{task} ({run.task_digest[:8]})"
        if len(versions[agent]) > 1:
            agent = f"{agent} ({run.version or 'unknown'})"
        if (task, agent) == (run.task, run.agent):
            return run
        return run.model_copy(update={"task": task, "agent": agent})

    return [named(run) for run in runs]
