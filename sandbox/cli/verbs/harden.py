"""`sandbox harden`: search for variants at which given agents fail."""

import hashlib
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.agent import choose_agent
from sandbox.cli.agent_choice import AgentChoice, AgentsChoice
from sandbox.cli.grouped import grouped
from sandbox.cli.inside import InsideChoice
from sandbox.cli.options import JsonOption, RunsOption, TasksArgument, open_store
from sandbox.cli.order import RETRIES, Amount, Conduct, Order
from sandbox.cli.terminal import line, mutter
from sandbox.model.errors import UsageError

if TYPE_CHECKING:
    from typing import TextIO

    from sandbox.model.job import JobResult
    from sandbox.model.store import Store
    from sandbox.tasks.library import LoadedTask
    from sandbox.tasks.suites.hardening import Tried
    from sandbox.tasks.suites.suite import Suite

ORACLE = "oracle"
LEVEL = "hardened"
"""What a suite calls the level of what was found."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far the search goes."""

    budget: Annotated[
        int, typer.Option(min=1, help="Runs of the given agents at most; the oracle's are free.")
    ] = 60
    population: Annotated[int, typer.Option(min=2, help="Variants that a round tries.")] = 6
    trials: Annotated[int, typer.Option(min=1, help="How often an agent runs each variant.")] = 1
    seed: Annotated[int, typer.Option(min=0, help="What is drawn depends on it.")] = 1


@grouped
def harden(
    task: TasksArgument,
    *,
    agents: AgentsChoice,
    bounds: Bounds,
    jobs: Annotated[int, typer.Option(min=1, help="How many runs go on at once.")] = 1,
    out: Annotated[Path | None, typer.Option(help="A file to write the suite to.")] = None,
    as_json: JsonOption = False,
    runs: RunsOption = None,
) -> None:
    """Search for variants that the oracle passes and the given agents fail, or pass unlike.

    Each round tries variants, keeps the hardest, and draws the next ones from these. Each is an
    experiment, so the same command goes on where it stopped. Exit codes: 0 something was found,
    1 nothing was, 2 usage, 3 infrastructure.
    """
    from sandbox.tasks import choice
    from sandbox.tasks.suites import hardening

    if out is not None and out.is_dir():
        raise UsageError(f"{out} is a folder.", "Name the file, as in suites/hard.yaml.")
    acting = agents.each()
    if any(each.agent == "human" or ORACLE in (each.agent, each.name) for each in acting):
        raise UsageError(
            "The oracle takes part by itself, and a person in none of so many runs.",
            "Name other agents.",
        )
    begun = choice.chosen(task, (), ())
    rounds = _Rounds(begun, acting, bounds, jobs, open_store(runs))
    tried = rounds.all(sys.stderr if as_json else sys.stdout)
    found = hardening.kept(tried, 2 * len(tried))
    if as_json:
        from sandbox.cli import outputs

        outputs.write("harden", tried)
    else:
        for text in table(tried):
            typer.echo(text)
    if out is not None and found:
        _write(out, found)
    raise typer.Exit(not found)


class _Rounds:
    """Rounds of the search, until the budget is used or nothing more can be drawn."""

    def __init__(
        self,
        begun: "Sequence[LoadedTask]",
        acting: Sequence[AgentChoice],
        bounds: Bounds,
        jobs: int,
        store: "Store",
    ) -> None:
        self._begun = begun
        self._acting = acting
        self._bounds = bounds
        self._jobs = jobs
        self._store = store
        whole = InsideChoice()
        who = [choose_agent(each, begun[0], whole) for each in acting]
        said = [
            [task.digest for task in begun],
            [
                [agent.label, agent.version, each.mode]
                for agent, each in zip(who, acting, strict=True)
            ],
            [bounds.population, bounds.trials, bounds.seed],
        ]
        digest = hashlib.sha256(json.dumps(said).encode()).hexdigest()
        self._name = f"harden-{digest[:8]}"

    def all(self, stream: "TextIO") -> "list[Tried]":
        """Do them, or find that they are done."""
        from sandbox.tasks.suites.hardening import Search

        bounds, each = self._bounds, len(self._acting) * self._bounds.trials
        if bounds.budget < each:
            raise UsageError(
                f"A budget of {bounds.budget} is less than one variant takes, {each} runs.",
                "Give a larger --budget.",
            )
        names = tuple(task.task.id for task in self._begun)
        search = Search(names, bounds.seed, bounds.population)
        tried: list[Tried] = []
        left, number = bounds.budget, 0
        while left >= each:
            wanted = search.wanted(tried)[: left // each]
            if not wanted:
                break
            number += 1
            made = self._round(wanted, number, stream)
            left -= each * len(wanted)
            tried += made
            if not made:
                break  # what is wrong has been told, and would be wrong again
        return tried

    def _round(self, wanted: list[str], number: int, stream: "TextIO") -> "list[Tried]":
        from sandbox.cli import batch_progress
        from sandbox.tasks import library

        bounds = self._bounds
        typer.echo(f"round {number}: {len(wanted)} variants", file=stream)
        order = Order(
            tasks=[library.load(name) for name in wanted],
            agents=[*self._acting, AgentChoice(agent=ORACLE)],
            within=InsideChoice(),
            amount=Amount(bounds.trials, self._jobs, RETRIES, f"{self._name}-{number}"),
            conduct=Conduct(),
        )
        _, results = batch_progress.performed(order, self._store, stream)
        made = list(_tried(wanted, results, bounds.trials))
        if left := len(wanted) - len(made):
            typer.echo(f"not judged, as a run of each crashed or met an error: {left}", file=stream)
        return made


def _tried(wanted: Sequence[str], results: "Sequence[JobResult]", trials: int) -> "Iterator[Tried]":
    """Say what became of each variant of which every run has come to a judgement of its agent."""
    from sandbox.model.verdict import Verdict
    from sandbox.tasks.suites.hardening import Tried

    by_variant: dict[str, list[JobResult]] = defaultdict(list)
    for result in results:
        by_variant[result.job.task].append(result)
    for variant in wanted:
        if not all(map(_judged, by_variant[variant])):
            continue
        passed: dict[str, int] = {}
        for result in by_variant[variant]:
            job = result.job
            who = job.agent if job.mode == "raw" else f"{job.agent} ({job.mode})"
            passed[who] = passed.get(who, 0) + (result.verdict is Verdict.PASSED)
        solved = passed.pop(ORACLE, 0)
        known = dict(sorted(passed.items()))
        yield Tried(variant=variant, passed=known, runs=trials, solvable=solved == trials)


def _judged(result: "JobResult") -> bool:
    from sandbox.model.verdict import Verdict

    return result.verdict not in (None, Verdict.ERROR) and not result.crashed


def table(tried: "Sequence[Tried]") -> list[str]:
    """One line for each variant, the hardest first, then what cost nobody anything."""
    from sandbox.tasks.suites import hardening

    rows = ["hardness  apart  passed"]
    for each in sorted(tried, key=lambda one: (-one.worth, one.variant)):
        counts = ", ".join(
            f"{line(agent)} {count}/{each.runs}" for agent, count in each.passed.items()
        )
        note = "" if each.solvable else "  the oracle does not pass it"
        rows.append(
            f"{each.hardness:>8.2f}  {each.separation:>5.2f}  {counts}  {each.variant}{note}"
        )
    if idle := hardening.costless(tried):
        rows.append(f"no run failed with: {', '.join(idle)}")
    return rows


def _write(out: Path, found: "Sequence[Tried]") -> None:
    """Pin what was found, the hardest first."""
    from sandbox.model.run_folder import write_whole
    from sandbox.tasks.suites import suite

    out.parent.mkdir(parents=True, exist_ok=True)
    made: Suite = suite.of([each.variant for each in found], LEVEL)
    write_whole(out, suite.text(made).encode())
    mutter(f"written to {line(str(out))}\n")
