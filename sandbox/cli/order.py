"""What several runs are made of, as a command line says it and as an experiment keeps it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.agent import ChosenAgent, choose_agent
from sandbox.cli.agent_choice import AgentChoice, HarnessMode, Protocol
from sandbox.cli.inside import InsideChoice
from sandbox.cli.options import EngineOption
from sandbox.model.errors import UsageError

if TYPE_CHECKING:
    from sandbox.model.allowance import Allowance
    from sandbox.model.experiment import Plan, PlannedAgent
    from sandbox.model.job import Who
    from sandbox.model.store import Store
    from sandbox.run.experiment import Experiment
    from sandbox.tasks.library import LoadedTask

RETRIES = 2

OnOption = Annotated[
    str | None,
    typer.Option(
        help="Have the runs done by a cluster of Ray: `HOST:PORT`, `auto`, `ray://HOST:10001` or "
        "`local-cluster:N`; --jobs above 1 bounds how many are on their way."
    ),
]

Cast = Mapping["Who", Mapping[str, ChosenAgent]]
"""Agents by who acts, then by the id of the task."""


@dataclass(frozen=True, slots=True)
class Amount:
    """How much is run, as the command line says."""

    trials: Annotated[int, typer.Option(help="How often each task is run.")] = 1
    jobs: Annotated[
        int,
        typer.Option(min=0, help="How many runs go on at once; 0 plans them for `sandbox resume`."),
    ] = 1
    retries: Annotated[
        int,
        typer.Option(
            min=0, max=10, help="Of several runs: how often those that errors ended are run again."
        ),
    ] = RETRIES
    experiment: Annotated[
        str | None,
        typer.Option(help="A name for these runs together; one that is there goes on."),
    ] = None
    on: OnOption = None


@dataclass(frozen=True, slots=True)
class Conduct:
    """What stands beside a run, and what it may take."""

    approver: Annotated[
        str,
        typer.Option(
            help="Who answers: `script` (the task's), `terminal`, `allow`, `deny`, or a YAML file."
        ),
    ] = "script"
    user: Annotated[
        str,
        typer.Option(
            help="Who understands questions to the task's user: `script`, by their words, or "
            "`llm:MODEL`, which picks one of the script's answers."
        ),
    ] = "script"
    user_url: Annotated[
        str | None, typer.Option(help="That model's endpoint, one like OpenAI's.")
    ] = None
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the agent's container, stopped, for inspection.")
    ] = False
    turns: Annotated[
        int | None, typer.Option(min=1, help="At most so many actions, where the task allows more.")
    ] = None
    seconds: Annotated[
        float | None, typer.Option(help="At most so long, where the task allows longer.")
    ] = None
    max_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="At most so many tokens, as the agent tells with its requests."),
    ] = None
    max_cost: Annotated[
        float | None, typer.Option(help="At most such a cost, as the agent tells it.")
    ] = None
    engine: EngineOption = None

    def allowance(self) -> "Allowance":
        """Return the bounds; UsageError for one that lets nothing happen."""
        from sandbox.model.allowance import Allowance

        for name, bound in (("--seconds", self.seconds), ("--max-cost", self.max_cost)):
            if bound is not None and not 0 < bound < math.inf:
                raise UsageError(f"{name} is {bound:g}: a run needs more than nothing.")
        return Allowance(
            turns=self.turns, seconds=self.seconds, tokens=self.max_tokens, cost=self.max_cost
        )

    @classmethod
    def of(cls, plan: "Plan") -> "Conduct":
        """Return what a plan was made of."""
        most = plan.allowance
        bounds = (most.turns, most.seconds, most.tokens, most.cost)
        return cls(plan.approver, plan.user, plan.user_url, plan.keep, *bounds)


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be run."""

    tasks: "Sequence[LoadedTask]"
    agents: Sequence[AgentChoice]
    within: InsideChoice
    amount: Amount
    conduct: "Conduct"
    going_on: "Experiment | None" = None
    """The experiment to go on with; None where the rest says which one it is."""

    def cast(self) -> Cast:
        """Make each agent for each task."""
        from sandbox.model.job import Who

        found: dict[Who, dict[str, ChosenAgent]] = {}
        for choice in self.agents:
            made = {task.task.id: choose_agent(choice, task, self.within) for task in self.tasks}
            one = next(iter(made.values()))
            found[Who(agent=one.label, mode=choice.trial_mode, version=one.version)] = made
        return found


def opened(order: Order, cast: "Sequence[Who]", store: "Store") -> "Experiment":
    """Return the experiment of what is ordered, one that is there where it goes on."""
    from sandbox.model.experiment import Plan
    from sandbox.run import batch, experiment

    tasks = [(task.task.id, task.digest) for task in order.tasks]
    if order.going_on is not None:
        return experiment.checked(order.going_on, batch.plan(tasks, cast, 1))
    plan = Plan(
        created=experiment.moment(),
        folder=str(Path.cwd()),
        agents=tuple(_kept(order)),
        approver=order.conduct.approver,
        user=order.conduct.user,
        user_url=order.conduct.user_url,
        keep=order.conduct.keep,
        allowance=order.conduct.allowance(),
        cells=tuple(batch.plan(tasks, cast, order.amount.trials)),
    )
    return experiment.opened(store, plan, order.amount.experiment)


def ordered(found: "Experiment", how: Amount) -> Order:
    """Return the order to go on with an experiment: what is to be run is its plan's."""
    from sandbox.tasks import library

    plan = found.plan
    first = plan.agents[0]
    return Order(
        tasks=[library.load(task) for task in dict.fromkeys(cell.task for cell in plan.cells)],
        agents=[_choice(agent) for agent in plan.agents],
        within=InsideChoice(
            first.inside,
            Path(first.inside_files) if first.inside_files else None,
            first.model_url,
            first.model_key_variable,
        ),
        amount=replace(how, trials=max(cell.trial for cell in plan.cells), experiment=found.name),
        conduct=Conduct.of(plan),
        going_on=found,
    )


def _kept(order: Order) -> "Iterator[PlannedAgent]":
    from sandbox.model.experiment import PlannedAgent

    within = order.within
    for choice in order.agents:
        yield PlannedAgent(
            agent=choice.agent,
            protocol=choice.protocol.value if choice.protocol else None,
            model=choice.model,
            base_url=choice.base_url,
            prices=str(choice.prices) if choice.prices else None,
            mode=choice.trial_mode,
            name=choice.name,
            tag=choice.tag,
            inside=within.inside,
            inside_files=str(within.inside_files) if within.inside_files else None,
            model_url=within.model_url,
            model_key_variable=within.model_key_variable,
        )


def _choice(agent: "PlannedAgent") -> AgentChoice:
    return AgentChoice(
        agent=agent.agent,
        protocol=Protocol(agent.protocol) if agent.protocol else None,
        model=agent.model,
        base_url=agent.base_url,
        prices=Path(agent.prices) if agent.prices else None,
        mode=HarnessMode(agent.mode),
        name=agent.name,
        tag=agent.tag,
    )
