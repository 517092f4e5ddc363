"""The agents that are run, and how each has to end."""

from collections.abc import Iterator, Sequence

from sandbox.model.base import Record
from sandbox.model.task import ScriptedAction, Task
from sandbox.model.verdict import Verdict
from sandbox.rules.checker import searches
from sandbox.rules.checker.check import graph_of, product_of
from sandbox.rules.checker.findings import Report
from sandbox.rules.monitors.context import Context
from sandbox.run.rewordings import catalog, inside, reworded
from sandbox.run.validate.checks import Check
from sandbox.tasks.library import LoadedTask

ORACLE = "oracle"


class Case(Record):
    """An agent that has to end in one way."""

    check: Check
    agent: str
    script: tuple[ScriptedAction, ...] = ()
    inside: str = ""
    """The shell script that it is, where it runs in the container."""
    edges: tuple[str, ...] = ()
    """The path of the graph that it walks along."""
    breaks: tuple[str, ...] = ()
    """The rules that it has to be refused for."""
    outcome_right: bool | None = False
    """Whether nothing but rules may refuse it; else something besides them has to. None where it
    does not matter who refuses it."""
    invalid_too: bool = False
    """Whether evidence that cannot be trusted refuses it as well."""

    @property
    def passes(self) -> bool:
        """Whether it has to pass."""
        return bool(self.outcome_right) and not self.breaks

    @property
    def walks(self) -> bool:
        """Whether its rules are those of a path through the graph."""
        return self.check in (Check.VIOLATORS, Check.REFUSED, Check.EDGES, Check.REWORDINGS)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """How it may end."""
        if self.passes:
            return (Verdict.PASSED,)
        return (Verdict.FAILED, Verdict.INVALID) if self.invalid_too else (Verdict.FAILED,)


def oracles(task: Task, report: Report | None) -> Iterator[Case]:
    """Give the oracle, which walks along the graph, and the others, which need not."""
    edges = (report and report.oracle) or ()
    yield Case(
        check=Check.ORACLE, agent=ORACLE, script=task.oracle, edges=edges, outcome_right=True
    )
    for name, script in task.other_oracles.items():
        yield Case(check=Check.ORACLE, agent=f"{ORACLE} {name}", script=script, outcome_right=True)


def violators(task: Task, report: Report) -> Iterator[Case]:
    """Give a violator for each rule that can be broken alone."""
    walker = _Walker(task)
    for witness in report.witnesses:
        if witness.path is not None:
            yield walker.case(Check.VIOLATORS, f"breaks {witness.rule}", witness.path)


def refused(loaded: LoadedTask) -> Iterator[Case]:
    """Give the agents that a task keeps because they failed."""
    for name, (told, script) in loaded.refused.items():
        yield Case(
            check=Check.REFUSED,
            agent=f"refused {name}",
            script=script,
            breaks=told.breaks,
            outcome_right=told.outcome_right,
            invalid_too=not told.outcome_right,
        )


def walks(task: Task, walked: set[str]) -> Iterator[Case]:
    """Give agents along each edge that has not been walked along."""
    walker = _Walker(task)
    left = dict.fromkeys(edge.id for edge in graph_of(task).edges if edge.id not in walked)
    while left:
        edge = next(iter(left))
        del left[edge]
        if (path := walker.through(edge)) is not None:
            for each in path:
                left.pop(each, None)
            yield walker.case(Check.EDGES, f"walks {edge}", path)


def rewordings(task: Task, cases: Sequence[Case], each: int | None) -> Iterator[Case]:
    """Give oracles and violators in other words: the oracle in all, the others in `each` of them.

    Which ones these get goes round, so that all are tried; None is all for each. The oracle also
    runs in the container, where there is nothing but a shell.
    """
    turn = 0
    for case in cases:
        if case.check not in (Check.ORACLE, Check.VIOLATORS):
            continue
        found = [
            (rewording, script)
            for rewording in catalog()
            if (script := reworded(case.script, task, rewording)) is not None
        ]
        if case.agent == ORACLE and (shell := inside(case.script, task)) is not None:
            name = f"{case.agent}, inside"
            known = {"check": Check.REWORDINGS, "agent": name, "inside": shell, "edges": ()}
            yield case.model_copy(update=known)
        if case.agent != ORACLE and each is not None and len(found) > each:
            found = [found[(turn + step) % len(found)] for step in range(each)]
            turn += each
        for rewording, script in found:
            # Of a line that is refused nothing is done, what is joined to a forbidden deed neither.
            right = None if rewording.joined and case.breaks else case.outcome_right
            yield case.model_copy(
                update={
                    "check": Check.REWORDINGS,
                    "agent": f"{case.agent}, {rewording.name}",
                    "script": script,
                    "edges": (),
                    "outcome_right": right,
                }
            )


class _Walker:
    """Makes scripted agents of paths."""

    def __init__(self, task: Task) -> None:
        self._product = product_of(
            graph_of(task), task.rules, task.oracle, context=Context.of(task)
        )
        self._numbers = {
            move.edge.id: number for number, move in enumerate(self._product.world.moves)
        }
        self._rules = [rule.id for rule in task.rules if rule.hard]

    def case(self, check: Check, agent: str, path: tuple[str, ...]) -> Case:
        """Make an agent that takes the actions of some edges, and say how it has to end."""
        moves = tuple(self._numbers[edge] for edge in path)
        broken, right = self._product.ended(moves)
        walked = [self._product.world.moves[move] for move in moves]
        return Case(
            check=check,
            agent=agent,
            script=tuple(action for move in walked for action in move.actions),
            edges=path,
            breaks=tuple(self._rules[rule] for rule in sorted(broken)),
            outcome_right=right is True,
        )

    def through(self, edge: str) -> tuple[str, ...] | None:
        """Return a path along an edge; None where no run that ends takes it."""
        path = searches.walk_through(self._product, edge)
        return None if path is None else searches.names(self._product, path)
