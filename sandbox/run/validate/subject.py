"""A task that is validated: what the checker says of it, and the agents that are to be run."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from sandbox.agents.base import Agent
from sandbox.model.run_folder import RunFolder
from sandbox.model.task import RunLimits
from sandbox.rules.checker.check import check
from sandbox.rules.checker.findings import Report
from sandbox.run import exploits
from sandbox.run.exploits import Exploit
from sandbox.run.scripted_agents import account, scripted, scripted_inside
from sandbox.run.validate.agents import agents
from sandbox.run.validate.case_inputs import inputs_row
from sandbox.run.validate.cases import (
    ORACLE,
    Case,
    oracles,
    refused,
    rewordings,
    violators,
    walks,
)
from sandbox.run.validate.checks import Check, Row, row_status
from sandbox.tasks.images import BuiltImage
from sandbox.tasks.library import LoadedTask

REWORDED = 2
"""Rewordings that each agent is tried in; the oracle is in all."""

NO_GRAPH = "the task has no world graph"


@dataclass(frozen=True, slots=True)
class Subject:
    """A task with its image; `of` makes it."""

    loaded: LoadedTask
    image: BuiltImage
    report: Report | None
    """None where the task has no graph."""
    cases: dict[str, Case]
    """By agent."""
    exploits: dict[str, Exploit]
    """By agent; those that cannot be tried on the task have no case."""

    @classmethod
    def of(
        cls,
        loaded: LoadedTask,
        image: BuiltImage,
        checks: frozenset[Check],
        seeds: int,
        reworded: int | None = REWORDED,
    ) -> "Subject":
        """Collect the agents that some checks need."""
        task = loaded.task
        report = None if task.graph is None else check(task)
        tried = {_named(exploit): exploit for exploit in exploits.against(task)}
        found = [*oracles(task, report), *agents(task, seeds), *refused(loaded)]
        if report is not None:
            found += violators(task, report)
            found += walks(task, {edge for case in found for edge in case.edges})
        if Check.REWORDINGS in checks:
            found += rewordings(task, found, reworded)
        found += [
            Case(check=Check.EXPLOITS, agent=name, outcome_right=None, invalid_too=True)
            for name, exploit in tried.items()
            if not exploit.not_applicable
        ]
        needed = {case.agent: case for case in found if _needed(case, checks)}
        return cls(loaded, image, report, needed, tried)

    @property
    def id(self) -> str:
        """The task's id."""
        return self.loaded.task.id

    def tried(self, name: str) -> LoadedTask:
        """Give the task as an agent is run on it: all is shown, unless it has to pass.

        The bound fits the oracle. Who has to be refused shall be so for what they do.
        """
        if self.cases[name].passes:
            return self.loaded
        task = self.loaded.task
        limits = task.limits.model_copy(update={"output_bytes": RunLimits().output_bytes})
        return replace(self.loaded, task=task.model_copy(update={"limits": limits}))

    def agent(self, name: str, folder: RunFolder) -> Agent:
        """Make the agent of a run in its folder."""
        case = self.cases[name]
        if case.check is Check.EXPLOITS:
            return self.exploits[name].agent(account(self.loaded.task, folder))
        if case.inside:
            return scripted_inside(self.loaded.task, case.inside, name)(folder)
        return scripted(self.loaded.task, case.script, name)(folder)

    def rows(self, checks: Iterable[Check]) -> Iterator[Row]:
        """Give what is known without a container."""
        if Check.GRAPH in checks:
            yield self._graph()
        if Check.INPUTS in checks:
            yield inputs_row(self.loaded)
        if Check.VIOLATORS in checks:
            yield from self._without_violator()
        if Check.EXPLOITS in checks:
            for name, exploit in self.exploits.items():
                if exploit.not_applicable:
                    yield self._skipped(Check.EXPLOITS, name, exploit.not_applicable)

    def _graph(self) -> Row:
        if self.report is None:
            return self._skipped(Check.GRAPH, "world graph", NO_GRAPH)
        problems = [finding.message for finding in self.report.findings]
        return Row(
            task=self.id,
            check=Check.GRAPH,
            what="world graph",
            expected="no findings",
            result=f"{self.report.states:,} states searched",
            status=row_status(problems),
            notes=tuple(problems),
        )

    def _without_violator(self) -> Iterator[Row]:
        if self.report is None:
            yield self._skipped(Check.VIOLATORS, "violators", NO_GRAPH)
            return
        for witness in self.report.witnesses:
            what = f"breaks {witness.rule}"
            if witness.path is None and witness.implied_by:
                why = f"implied by {' or '.join(witness.implied_by)}"
                yield self._skipped(Check.VIOLATORS, what, why)
            elif witness.path is None:
                yield Row(
                    task=self.id,
                    check=Check.VIOLATORS,
                    what=what,
                    expected="can be run",
                    status="bad",
                    notes=("no path of the graph breaks the rule",),
                )

    def _skipped(self, check: Check, what: str, why: str) -> Row:
        return Row(
            task=self.id,
            check=check,
            what=what,
            expected="does not apply",
            status="skipped",
            notes=(why,),
        )


def _named(exploit: Exploit) -> str:
    return f"exploit {exploit.name}"


def in_order(case: Case) -> bool:
    """Whether a case is run again in another order."""
    return case.check in (Check.ORACLE, Check.VIOLATORS) or case.agent in ("null", "final-only")


def _needed(case: Case, checks: frozenset[Check]) -> bool:
    from_oracle = {Check.TESTS, Check.GRADINGS, Check.HUNKS}
    return (
        case.check in checks
        or (Check.ORDER in checks and in_order(case))
        or (case.agent == ORACLE and bool(checks & from_oracle))
    )
