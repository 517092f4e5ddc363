"""Whether a task holds in real containers what its graph promises.

The oracle, the agent that does nothing, and for each hard rule the scripted agent that walks along
the witness of the checker are run; each has to end as it should, and the world has to answer each
of their actions as the graph says.
"""

from collections.abc import Callable, Iterable, Sequence

from sandbox import trace as traces
from sandbox.agents.base import Agent
from sandbox.agents.scripted import ScriptedAgent
from sandbox.batch import Batch
from sandbox.checker import questions
from sandbox.checker.check import check, graph_of, product_of
from sandbox.checker.report import Report
from sandbox.checker.world import Move, World
from sandbox.engines.base import Engine
from sandbox.images import BuiltImage
from sandbox.model.base import Record
from sandbox.model.event import Entry
from sandbox.model.grade import RunGrade, Verdict
from sandbox.model.job import Job, JobResult
from sandbox.model.task import ScriptedAction, Task
from sandbox.monitors.context import Context
from sandbox.monitors.steps import Step, steps
from sandbox.policy.approvers import ScriptedApprover
from sandbox.store import RunFolder, Store
from sandbox.tasks import LoadedTask
from sandbox.trial import Trial

ORACLE, NULL = "oracle", "null"


class Case(Record):
    """An agent that has to end in one way."""

    agent: str
    script: tuple[ScriptedAction, ...] = ()
    edges: tuple[str, ...] = ()
    """The path of the graph that it walks along."""
    breaks: tuple[str, ...] = ()
    """The rules that it has to be refused for."""
    outcome_right: bool = False
    """Whether nothing but rules may refuse it; else something besides them has to."""

    @property
    def passes(self) -> bool:
        """Whether it has to pass."""
        return self.outcome_right and not self.breaks


class Validated(Record):
    """What came of a case."""

    task: str
    agent: str
    expected: str
    run: str | None
    verdict: Verdict | None
    problems: tuple[str, ...] = ()
    """Why it does not hold; empty where it does."""

    @property
    def holds(self) -> bool:
        """Whether it ended as it has to."""
        return not self.problems


def cases(task: Task, report: Report, *, every_edge: bool = False) -> list[Case]:
    """Give the agents of a task: a violator for each rule that can be broken alone.

    With `every_edge` also an agent along each edge that none of those takes.
    """
    walker = _Walker(task)
    found = [
        Case(agent=ORACLE, script=task.oracle, edges=report.oracle or (), outcome_right=True),
        Case(agent=NULL),
        *(
            walker.case(f"breaks {witness.rule}", witness.path)
            for witness in report.witnesses
            if witness.path is not None
        ),
    ]
    walked = {edge for case in found for edge in case.edges}
    for edge in graph_of(task).edges if every_edge else ():
        if edge.id not in walked and (path := walker.through(edge.id)) is not None:
            found.append(walker.case(f"walks {edge.id}", path))
            walked |= set(path)
    return found


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

    def case(self, agent: str, path: tuple[str, ...]) -> Case:
        """Make an agent that takes the actions of some edges, and say how it has to end."""
        moves = tuple(self._numbers[edge] for edge in path)
        end = self._product.at_end_of(moves)
        walked = [self._product.world.moves[move] for move in moves]
        return Case(
            agent=agent,
            script=tuple(action for move in walked for action in move.actions),
            edges=path,
            breaks=tuple(self._rules[rule] for rule in sorted(self._product.verdict(end))),
            outcome_right=self._product.right(end) is True,
        )

    def through(self, edge: str) -> tuple[str, ...] | None:
        """Return a path along an edge; None where no run that ends takes it."""
        path = questions.walk_through(self._product, edge)
        return None if path is None else questions.names(self._product, path)


def expected(case: Case) -> str:
    """Say how a case has to end."""
    if case.passes:
        return "passes"
    if case.agent == NULL:
        return "fails, and not by its path alone"
    rules = " and ".join(case.breaks)
    if case.outcome_right:
        return f"fails for {rules}, and for nothing else"
    return f"fails for {rules} and its outcome" if rules else "fails for its outcome alone"


def judge(task: Task, case: Case, grade: RunGrade, entries: Iterable[Entry]) -> list[str]:
    """Say what about a run is not as it has to be."""
    problems = list(_verdict_problems(case, grade))
    if case.edges:
        moves = {move.edge.id: move for move in World(graph_of(task), task.oracle).moves}
        walked = [moves[edge] for edge in case.edges]
        problems += differences(walked, [step for step in steps(entries) if step.kind == "action"])
    return problems


def _verdict_problems(case: Case, grade: RunGrade) -> Iterable[str]:
    refused = {part.grader for part in grade.grades if part.verdict is not Verdict.PASSED}
    others = refused - {"trajectory"}
    broken = {
        reason.rule
        for part in grade.grades
        for reason in part.reasons
        if part.grader == "trajectory" and reason.rule and not reason.soft
    }
    if case.passes:
        if grade.verdict is not Verdict.PASSED:
            yield f"the verdict is {grade.verdict}, by {', '.join(sorted(refused)) or 'nobody'}"
        return
    if grade.verdict is not Verdict.FAILED:
        yield f"the verdict is {grade.verdict}, not failed"
    if case.outcome_right and others:
        yield f"refused by {', '.join(sorted(others))} too, where the graph says `right`"
    if not case.outcome_right and not others:
        yield "its outcome is not refused"
    if case.agent != NULL:
        yield from (f"{rule} is not broken" for rule in case.breaks if rule not in broken)
        yield from (f"{rule} is broken too" for rule in sorted(broken - set(case.breaks)))


def differences(walked: Sequence[Move], done: Sequence[Step]) -> list[str]:
    """Say where the world did not answer as the graph says."""
    claims = [
        (move.edge.id, step) for move in walked for step in move.steps if step.kind == "action"
    ]
    found = []
    for (edge, claim), step in zip(claims, done, strict=False):
        if (text := _difference(claim, step)) is not None:
            found.append(f"on the edge {edge}, {claim.name} {text}")
    if len(claims) != len(done):
        found.append(f"{len(done)} actions were taken where the graph has {len(claims)}")
    return found


def _difference(claim: Step, step: Step) -> str | None:
    said, seen = claim.observation, step.observation
    if (claim.name, claim.arguments) != (step.name, step.arguments):
        return f"is not what was done, which is {step.name}"
    if said is None or seen is None:
        return None if said is seen else "was never answered"
    if (said.status, said.error_code) != (seen.status, seen.error_code):
        return f"gave {seen.error_code or 'ok'}, not {said.error_code or 'ok'}"
    for name, value in said.result.items():
        if name not in seen.result or seen.result[name] != value:
            return f"gave {name} = {seen.result.get(name)!r}, not {value!r}"
    if set(claim.changes) != set(step.changes):
        wrote = ", ".join(step.changes) or "nothing"
        return f"wrote {wrote}, not {', '.join(claim.changes) or 'nothing'}"
    return None


class Validation:
    """Runs every case of some tasks, several at once."""

    def __init__(
        self,
        loaded: Sequence[tuple[LoadedTask, BuiltImage]],
        engine: Engine,
        store: Store,
        *,
        every_edge: bool = False,
    ) -> None:
        self._tasks = {task.task.id: (task, image) for task, image in loaded}
        self.reports = {name: check(task.task) for name, (task, _) in self._tasks.items()}
        self._cases = {
            (name, case.agent): case
            for name, (task, _) in self._tasks.items()
            for case in cases(task.task, self.reports[name], every_edge=every_edge)
        }
        self._engine = engine
        self._store = store

    def __len__(self) -> int:
        return len(self._cases)

    def run(self, at_once: int, tell: Callable[[Validated], None]) -> list[Validated]:
        """Run all cases; `tell` gets each as it ends. Returns them in the order of the rules."""
        jobs = [
            Job(task=name, task_digest=self._tasks[name][0].digest, agent=agent, trial=1)
            for name, agent in self._cases
        ]
        found: dict[tuple[str, str], Validated] = {}
        batch = Batch(self._trial, self._engine, self._store, at_once)
        for result in batch.results(jobs):
            validated = self._validated(result)
            found[result.job.task, result.job.agent] = validated
            tell(validated)
        return [found[key] for key in self._cases]

    def _trial(self, job: Job) -> Trial:
        task, image = self._tasks[job.task]
        case = self._cases[job.task, job.agent]

        def agent(folder: RunFolder) -> Agent:  # noqa: ARG001 - a script keeps no log
            return ScriptedAgent(case.script, case.agent)

        return Trial(task, image, agent, ScriptedApprover(task.task.policy))

    def _validated(self, result: JobResult) -> Validated:
        task = self._tasks[result.job.task][0].task
        case = self._cases[result.job.task, result.job.agent]
        problems = [result.problem] if result.problem else []
        if result.run is not None and not problems:
            folder = self._store.folder(result.run)
            grade = folder.load(folder.grade, RunGrade)
            problems = judge(task, case, grade, traces.read(folder.trace).entries)
        return Validated(
            task=task.id,
            agent=case.agent,
            expected=expected(case),
            run=result.run,
            verdict=result.verdict,
            problems=tuple(problems),
        )
