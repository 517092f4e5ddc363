"""Runs as a store keeps them, made without a container."""

from collections.abc import Sequence

from sandbox.model.change import Change, ChangeSet, FileState, Owner
from sandbox.model.decision import Decision, Outcome
from sandbox.model.event import (
    ActionTaken,
    Event,
    Executed,
    Final,
    MilestonePassed,
    Observed,
    RunEnded,
    RunStarted,
    Violation,
)
from sandbox.model.experiment import Plan, PlannedAgent
from sandbox.model.grade import Grade, Reason, RunGrade, TestReport
from sandbox.model.how_ended import RunEnd
from sandbox.model.job import Job, JobResult
from sandbox.model.observation import Observation
from sandbox.model.run import RunRecord
from sandbox.model.run_folder import RunFolder
from sandbox.model.session import FileKind
from sandbox.model.store import Store
from sandbox.model.trace import TraceWriter
from sandbox.model.usage import ModelUsage
from sandbox.model.verdict import Verdict
from sandbox.run.experiment import Experiment, moment, opened
from tests.sandbox.runs import STARTED

TASK = "humanize/file-sizes"
ALLOWED = Decision(outcome=Outcome.ALLOW)
LOG = """=== FAILURES ===
/repo/tests/test_a.py:13: assert '1' == '1,3'
/repo/tests/test_a.py:20: AssertionError: something long that the summary cuts off
=== short test summary info ===
FAILED tests/test_a.py::test_one - assert '1'...
FAILED tests/test_a.py::test_two - AssertionError: something lo...
"""


def executed(argv: Sequence[str], **others: object) -> Executed:
    fields = {"path": "/bin/x", "cwd": "/", "pid": 2, "parent": 1, "uid": 10001} | others
    return Executed.model_validate(
        {"program": argv[0], "argv": tuple(argv), "verdict": "allowed", **fields}
    )


def events(text: str = "hello") -> list[tuple[Event, str | None]]:
    """A run of two actions, of which the second breaks a rule; `text` is all that is foreign."""
    started: RunStarted = STARTED
    return [
        (started, None),
        (ActionTaken(name="run_command", arguments={"command": text}, decision=ALLOWED), "1"),
        (executed([text]), "1"),
        (MilestonePassed(milestone="fixed", reached=True, progress=0.5), "1"),
        (Observed(name="run_command", observation=Observation(result={"stdout": text})), "1"),
        (ActionTaken(name="write_file", arguments={"path": text, "content": text}), "2"),
        (Violation(rule="suite-before-commit", message=text), "2"),
        (Observed(name="write_file", observation=Observation(message=text)), "2"),
        (Final(fields={"cause": text}), None),
        (ENDED, None),
    ]


ENDED = RunEnded(reason="final_answer", turns=2, seconds=1.5)


def stored_run(
    store: Store,
    name: str,
    *,
    text: str = "hello",
    verdict: Verdict = Verdict.FAILED,
    agent: str = "mine",
    ended: RunEnded = ENDED,
    usage: ModelUsage | None = None,
) -> RunFolder:
    """Store a run as it is once it was graded, sealed and all."""
    folder = store.create(
        RunRecord(
            id=name,
            task=TASK,
            task_digest="d",
            image="i",
            image_id="i",
            agent=agent,
            sandbox_version="0",
            engine="e",
            started="2026-01-01T00:00:00+00:00",
            ended="2026-01-01T00:01:00+00:00",
            end=RunEnd.of(ended, usage),
        )
    )
    with TraceWriter(folder.trace) as trace:
        for event, action in events(text):
            trace.append(event, action)
    path = f"/repo/{text}"
    state = FileState(kind=FileKind.FILE, size=1, digest="0" * 64, mode=0o644, uid=1, gid=1)
    change = Change(path=path, owner=Owner.COLLATERAL, before=None, after=state)
    folder.save(
        folder.changes,
        ChangeSet(source="overlay", changes=(change,), git=None, git_problem="gone"),
    )
    folder.patch.write_text(f"# collateral: {path}\n--- /dev/null\n+++ {path}\n+{text}\n")
    folder.candidate.write_bytes(b"")
    folder.save(folder.tests, TestReport(outcomes={"tests/test_a.py::test_one": "failed"}, log=LOG))
    folder.save(folder.grade, grade(name, text, verdict))
    folder.seal()
    folder.seal_grade(verdict)
    folder.let_go()
    return folder


def grade(name: str, text: str, verdict: Verdict) -> RunGrade:
    against: tuple[Grade, ...] = ()
    if verdict is Verdict.FAILED:
        tested = Reason(message="test_one failed", test="tests/test_a.py::test_one")
        broken = Reason(message=text, rule="suite-before-commit", event=6)
        against = (
            Grade(grader="tests", verdict=verdict, reasons=(tested,), facts={"passed": 3}),
            Grade(grader="trajectory", verdict=verdict, reasons=(broken,)),
        )
    return RunGrade(run=name, task=TASK, task_digest="d", verdict=verdict, grades=against)


def experiment(store: Store, verdicts: Sequence[Verdict], planned: int) -> Experiment:
    """Store an experiment called `many` of which some runs are over."""
    cells = tuple(
        Job(task=TASK, task_digest="d", agent="mine", trial=number)
        for number in range(1, planned + 1)
    )
    agents = (PlannedAgent(agent="mine"),)
    plan = Plan(created=moment(), folder="/", agents=agents, approver="script", cells=cells)
    made = opened(store, plan, "many")
    for number, verdict in enumerate(verdicts):
        name = f"{number:08x}-humanize-file-sizes"
        made.begins(cells[number], store.folder(name))
        usage = ModelUsage(input_tokens=1000 * (number + 1), output_tokens=1, cost=0.5)
        stored_run(store, name, verdict=verdict, usage=usage)
        made.over(JobResult(job=cells[number], run=name, verdict=verdict))
    return made
