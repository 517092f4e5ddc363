import gc
import tarfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.agents.base import Agent, Departure
from sandbox.agents.scripted import ScriptedAgent, null_agent
from sandbox.container.engines.base import ContainerInfo
from sandbox.container.engines.fake import Answer, FakeEngine
from sandbox.model import trace as traces
from sandbox.model.action import Request
from sandbox.model.briefing import Briefing, Ended, Reply
from sandbox.model.errors import UsageError
from sandbox.model.event import RunEnded
from sandbox.model.job import Job, JobResult, Who
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from sandbox.model.task import ScriptedAction
from sandbox.model.verdict import Verdict
from sandbox.rules.policy.approvers import DenyAll
from sandbox.run import admission
from sandbox.run.batch import Batch, exit_code, plan
from sandbox.run.run_containers import RUN
from sandbox.run.trial import Trial
from sandbox.tasks import library
from sandbox.tasks.images import BuiltImage

TASK = "humanize/file-sizes"
FOLDERS = ("home", "home/agent", "home/agent/humanize", "tmp", "var", "var/tmp")
SLEEP = ScriptedAction(action="run_command", arguments={"command": "sleep 1000"})


class SilentAgent:
    """Says nothing, until nobody waits any more."""

    name = "silent"

    def __init__(self, waiting: threading.Event) -> None:
        self._waiting = waiting

    def begin(self, briefing: Briefing) -> None: ...

    def next(self, reply: Reply | None, timeout: float) -> Request | None:  # noqa: ARG002
        self._waiting.set()
        threading.Event().wait(timeout)
        raise TimeoutError

    def ending(self) -> Departure:
        return Departure("")

    def close(self, reply: Reply | None, ended: Ended) -> None: ...


class World:
    """A fake engine that holds the task's image, and a store."""

    def __init__(self, folder: Path) -> None:
        self.sleeping = threading.Event()
        self.sleepers: list[object] = []
        python = ("/opt/venv/bin/python", "**")
        servant = ("/bin/bash", "-c", "exec *python *")
        self.engine = FakeEngine(
            {
                python: Answer(exit_code=1),
                servant: Answer(exit_code=1),
                ("/bin/rm", "**"): Answer(),
                ("/usr/bin/*", "**"): Answer(),
                ("**",): self._answer,
            }
        )
        self.store = Store(folder / "runs")
        archive = folder / "root.tar"
        with tarfile.open(archive, "w") as tar:
            for name in FOLDERS:
                entry = tarfile.TarInfo(name)
                entry.type, entry.mode, entry.uid, entry.gid = tarfile.DIRTYPE, 0o777, 10001, 10001
                tar.addfile(entry)
        info = self.engine.import_image(archive, tag="t", labels={})
        self.image = BuiltImage("t", info.id, 0, 0.0, rebuilt=False)
        self.task = library.load(TASK)

    def _answer(self, *_: object) -> Answer:
        self.sleepers.append(None)
        self.sleeping.set()
        return Answer(seconds=None)

    def batch(
        self,
        agent: Callable[[Job, RunFolder], Agent],
        at_once: int = 2,
        cpus: int | None = None,
    ) -> Batch:
        def prepare(job: Job) -> Trial:
            return Trial(self.task, self.image, lambda folder: agent(job, folder), DenyAll())

        return Batch(prepare, self.engine, self.store, at_once, cpus)

    def left(self) -> list[ContainerInfo]:
        return self.engine.containers(RUN)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def jobs(trials: int) -> list[Job]:
    return plan([(TASK, "d")], [Who(agent="null")], trials)


def test_first_trials_of_all_tasks_come_first() -> None:
    tasks = [("a/b", "1"), ("c/d", "2"), ("a/b", "1")]
    planned = plan(tasks, [Who(agent="x"), Who(agent="y", mode="minimal")], 2)
    assert [f"{job.task} {job.agent} {job.trial}" for job in planned] == [
        f"{task} {agent} {trial}" for trial in (1, 2) for task in ("a/b", "c/d") for agent in "xy"
    ]
    assert Job.model_validate_json(planned[0].model_dump_json()) == planned[0]


def test_numbers_that_make_no_sense_are_refused(world: World) -> None:
    with pytest.raises(UsageError, match="0 trials"):
        plan([(TASK, "d")], [Who(agent="x")], 0)
    with pytest.raises(UsageError, match="0 runs at once"):
        world.batch(lambda _job, _folder: null_agent(), 0)


def test_every_job_is_a_run_of_its_own(world: World) -> None:
    found = list(world.batch(lambda _job, _folder: null_agent()).results(jobs(5)))
    assert {result.verdict for result in found} == {Verdict.FAILED}
    assert sorted(result.job.trial for result in found) == [1, 2, 3, 4, 5]
    assert {result.run for result in found} == {folder.id for folder in world.store.folders()}
    assert world.left() == []


def test_a_run_that_errs_stops_no_other(world: World) -> None:
    def agent(job: Job, folder: RunFolder) -> Agent:
        if job.trial == 1:
            raise ValueError("no such luck")
        return null_agent()

    found = {each.job.trial: each for each in world.batch(agent).results(jobs(3))}
    assert found[1].verdict is Verdict.ERROR
    assert found[1].problem == "ValueError: no such luck"
    assert [found[trial].verdict for trial in (2, 3)] == [Verdict.FAILED] * 2
    assert exit_code(list(found.values())) == 3


class Connection:
    """What a run has open."""


def test_a_run_that_errs_lets_go_of_what_it_had_open(world: World) -> None:
    opened: list[weakref.ref[Connection]] = []

    def agent(job: Job, folder: RunFolder) -> Agent:
        connection = Connection()
        opened.append(weakref.ref(connection))
        error = ValueError("no such luck")  # which holds this frame, which holds it
        raise error

    gc.disable()
    try:
        (found,) = world.batch(agent).results(jobs(1))
        assert found.verdict is Verdict.ERROR
        assert [each() for each in opened] == [None]
    finally:
        gc.enable()


def test_an_interrupt_keeps_what_is_done_and_ends_what_goes_on(world: World) -> None:
    waiting = threading.Event()

    def agent(job: Job, folder: RunFolder) -> Agent:
        return null_agent() if job.trial == 1 else SilentAgent(waiting)

    batch = world.batch(agent)
    results = batch.results(jobs(6))
    first = next(results)
    waiting.wait()
    with pytest.raises(KeyboardInterrupt):
        results.throw(KeyboardInterrupt())
    assert first.verdict is Verdict.FAILED
    stopped = batch.remaining()
    assert stopped
    assert all(result.interrupted for result in stopped)
    begun = {folder.id: folder for folder in world.store.folders()}
    assert len(begun) < 6
    for result in stopped:
        if result.run:
            folder = begun[result.run]
            assert folder.record().problem == "It was interrupted."
    assert begun[first.run or ""].record().verdict is Verdict.FAILED
    assert world.left() == []


def test_a_job_is_asked_for_when_it_can_begin(world: World) -> None:
    asked: list[int] = []

    def wanted() -> Iterator[Job]:
        for job in jobs(5):
            asked.append(job.trial)
            yield job

    batch = world.batch(lambda _job, _folder: null_agent(), at_once=2)
    for over, _ in enumerate(batch.results(wanted())):
        assert len(asked) <= over + 2
    assert asked == [1, 2, 3, 4, 5]


class Interrupting(list[Job]):
    """Jobs of which an interrupt comes while they are handed over."""

    def __iter__(self) -> Iterator[Job]:
        for number in range(len(self)):
            if number == len(self) - 1:
                raise KeyboardInterrupt
            yield self[number]


def test_an_interrupt_while_jobs_are_handed_over_ends_those_that_have_begun(world: World) -> None:
    batch = world.batch(lambda _job, _folder: SilentAgent(threading.Event()), at_once=9)
    with pytest.raises(KeyboardInterrupt):
        next(batch.results(Interrupting(jobs(9))))
    assert all(result.interrupted for result in batch.remaining())
    assert len(list(world.store.folders())) <= 8
    assert world.left() == []


def test_an_interrupt_ends_a_command_that_runs(world: World) -> None:
    batch = world.batch(lambda _job, _folder: ScriptedAgent((SLEEP,)), at_once=1)
    results = batch.results(jobs(1))

    def stop() -> None:
        world.sleeping.wait()
        batch.stop()

    interrupt = threading.Thread(target=stop)
    interrupt.start()
    (result,) = results
    interrupt.join()
    assert result.interrupted
    ended = traces.read(world.store.folder(result.run or "").trace).entries[-1].event
    assert isinstance(ended, RunEnded)
    assert ended.reason == "interrupted"
    assert world.left() == []


@pytest.fixture
def busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many threads of the machine want to run."""
    place = tmp_path / "loadavg"
    place.write_text("9.00 9.00 9.00 50/467 11042\n")
    monkeypatch.setattr(admission, "LOAD", place)


@pytest.mark.usefixtures("busy")
def test_runs_of_a_batch_take_turns(world: World) -> None:
    batch = world.batch(lambda _job, _folder: ScriptedAgent((SLEEP,)), at_once=6, cpus=1)
    results = batch.results(jobs(6))
    begun: list[int] = []

    def stop() -> None:
        while len(world.sleepers) < 2:
            time.sleep(0.01)
        time.sleep(0.5)  # for those that must not begin
        begun.append(len(world.sleepers))
        batch.stop()

    interrupt = threading.Thread(target=stop)
    interrupt.start()
    found = []
    for result in results:
        found.append(result)
        batch.stop()  # for what was about to begin
    interrupt.join()
    assert begun == [2]
    assert all(result.interrupted for result in found)
    assert world.left() == []


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ([], 0),
        ([Verdict.PASSED] * 2, 0),
        ([Verdict.PASSED, Verdict.FAILED], 1),
        ([Verdict.ERROR, Verdict.FAILED], 3),
        ([Verdict.ERROR, Verdict.INVALID, Verdict.FAILED], 4),
        ([None], 3),
    ],
)
def test_the_highest_exit_code_wins(verdicts: list[Verdict | None], code: int) -> None:
    job = jobs(1)[0]
    assert exit_code([JobResult(job=job, run=None, verdict=each) for each in verdicts]) == code
