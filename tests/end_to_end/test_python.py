"""The sandbox as a library: the examples of its page, and what they leave."""

import asyncio
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import cast

import pytest
from pydantic import JsonValue

import sandbox
from sandbox.container import engines
from sandbox.model.errors import ModelError, UsageError
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from sandbox.run.run_containers import RUN
from tests import ROOT
from tests.end_to_end.commands import TASK

pytestmark = pytest.mark.engine

EXAMPLES = sorted((ROOT / "docs/examples/python").glob("*.py"))


def assert_gone(folder: RunFolder) -> None:
    engine = engines.connect()
    try:
        assert engine.containers(f"{RUN}={folder.id}") == []
    finally:
        engine.close()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_stands_on_the_page_and_is_short(example: Path) -> None:
    text = example.read_text().rstrip()
    assert text in (ROOT / "docs/python.md").read_text()
    assert len([line for line in text.splitlines() if line.strip()]) <= 20


@pytest.mark.slow
@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_of_the_page_runs_as_it_stands_there(
    example: Path, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_RUNS", str(runs))
    done = subprocess.run(
        [sys.executable, example], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done
    assert len(done.stdout.splitlines()) <= 8
    for folder in Store(runs).folders():
        assert folder.record().ended is not None


def test_the_oracles_steps_are_worth_one(runs: Path) -> None:
    from sandbox.tasks import library

    *steps, final = library.load(TASK).task.oracle
    with sandbox.open(TASK, name="steps", runs=runs) as world:
        for each in steps:
            assert world.step(each.action, each.arguments).status == "ok"
        with pytest.raises(UsageError, match="refused"):
            world.finish({"wrong": 1})
        fields = final.arguments["fields"]
        assert isinstance(fields, dict)
        outcome = world.finish(fields)
    assert (outcome.passed, outcome.reward, outcome.how) == (True, 1.0, "answered")
    assert set(outcome.rewards.values()) == {1.0}
    assert world.outcome is outcome
    (folder,) = Store(runs).folders()
    assert (folder.id, folder.record().agent) == (outcome.run, "steps")


@pytest.mark.slow
def test_many_are_open_at_once_and_each_is_its_own(runs: Path) -> None:
    barrier = threading.Barrier(3)

    def act(number: int) -> str:
        with sandbox.open(TASK, runs=runs) as world:
            world.step("run_command", command=f"echo {number} > /tmp/mine")
            barrier.wait(120)
            return str(world.step("run_command", command="cat /tmp/mine").result["stdout"])

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(act, range(3))) == ["0\n", "1\n", "2\n"]


@pytest.mark.slow
def test_what_goes_wrong_in_the_block_is_what_is_told(runs: Path) -> None:
    with pytest.raises(ZeroDivisionError), sandbox.open(TASK, runs=runs) as world:
        world.step("run_command", command=f"sleep {1 // 0}")
    assert world.outcome is not None
    assert (world.outcome.verdict, world.outcome.how) == ("failed", "crashed")
    with pytest.raises(ModelError), sandbox.open(TASK, runs=runs) as world:
        raise ModelError("its provider answers nothing")
    assert world.outcome is not None
    assert world.outcome.problem == "its provider answers nothing"
    assert (world.outcome.reward, world.outcome.how) == (None, "provider_error")
    records = [folder.record() for folder in Store(runs).folders()]
    ends = {(record.verdict, record.crashed) for record in records}
    assert ends == {(Verdict.FAILED, True), (Verdict.ERROR, False)}


def test_a_task_that_is_not_there_is_told_at_once(runs: Path) -> None:
    with pytest.raises(UsageError, match="no task"):
        sandbox.open("humanize/nothing", runs=runs)


@pytest.mark.slow
def test_a_function_that_raises_has_crashed_and_the_others_go_on(runs: Path) -> None:
    turns = iter(range(2))

    def agent(world: sandbox.World) -> Mapping[str, JsonValue] | None:
        if next(turns) == 0:
            raise KeyError("first")
        return None

    found = sandbox.evaluate(TASK, agent, trials=2, runs=runs)
    assert sorted(str(outcome.how) for outcome in found) == ["crashed", "gave_up"]
    assert [outcome.reward for outcome in found] == [0, 0]
    assert {outcome.task for outcome in found} == {TASK}


@pytest.mark.slow
def test_an_error_is_worth_nothing_and_a_wrong_return_is_told(runs: Path) -> None:
    def unlucky(world: sandbox.World) -> None:
        raise ModelError("no quota")

    (found,) = sandbox.evaluate(TASK, unlucky, runs=runs)
    assert (found.verdict, found.how, found.reward) == ("error", "provider_error", None)
    wrong = cast(Callable[[sandbox.World], None], lambda _: "done")
    (text,) = sandbox.evaluate(TASK, wrong, runs=runs)
    assert (text.how, text.reward) == ("crashed", 0)
    said = Store(runs).folder(text.run).agent_log.read_text()
    assert "The function returned str, where fields by their names are wanted" in said


@pytest.mark.slow
def test_who_returns_no_answer_to_the_task_has_failed_and_counts(runs: Path) -> None:
    (found,) = sandbox.evaluate(TASK, lambda _: {"nothing": 1}, runs=runs)
    assert (found.verdict, found.how) == ("failed", "gave_up")
    (folder,) = Store(runs).folders()
    record = folder.record()
    assert record.end is not None
    assert "other fields" in record.end.message
    assert not record.crashed


@pytest.mark.slow
def test_with_asyncio_worlds_do_not_wait_for_each_other(runs: Path) -> None:
    """Two steps that each last until the other has begun: one thread for both would hang."""

    async def meet(own: str, other: str) -> int:
        async with sandbox.open_async(TASK, runs=runs) as world:
            steps.append(own)
            while other not in steps:
                reply = await world.step("run_command", command="sleep 0.1")
            reply = await world.step("run_command", command="exit 3")
            with pytest.raises(UsageError, match="refused"):
                await world.finish({"wrong": 1})
        assert world.outcome is not None
        return int(str(reply.result["exit_code"]))

    async def both() -> list[int]:
        return list(await asyncio.gather(meet("a", "b"), meet("b", "a")))

    steps: list[str] = []
    assert asyncio.run(asyncio.wait_for(both(), 200)) == [3, 3]


@pytest.mark.slow
def test_a_block_that_is_cancelled_leaves_a_run_that_has_ended(runs: Path) -> None:
    async def hang() -> None:
        async with sandbox.open_async(TASK, runs=runs) as world:
            begun.set()
            await world.step("run_command", command="sleep 600")

    async def cancelled() -> None:
        task = asyncio.create_task(hang())
        await begun.wait()
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    begun = asyncio.Event()
    asyncio.run(cancelled())
    (folder,) = Store(runs).folders()
    assert folder.record().problem == "It was interrupted."
    assert_gone(folder)


def test_a_start_that_is_cancelled_leaves_no_run_that_goes_on(runs: Path) -> None:
    async def cancelled() -> None:
        task = asyncio.create_task(sandbox.open_async(TASK, runs=runs).__aenter__())
        await asyncio.sleep(0)  # until it waits for the start
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    deadline = time.monotonic() + 60
    while any(folder.record().ended is None for folder in Store(runs).folders()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
def test_a_coroutine_is_evaluated_under_its_own_name_and_version(runs: Path) -> None:
    async def careless(world: sandbox.AsyncWorld) -> None:
        await asyncio.sleep(0)
        if (await world.step("list_files")).status == "ok":
            raise RuntimeError("on purpose")

    outcomes = asyncio.run(sandbox.evaluate_async(TASK, careless, trials=2, jobs=2, runs=runs))
    assert [outcome.how for outcome in outcomes] == ["crashed", "crashed"]
    records = [folder.record() for folder in Store(runs).folders()]
    assert {record.agent.rpartition(".")[2] for record in records} == {"careless"}
    assert all(record.actor.digest for record in records)
    assert "on purpose" in Store(runs).folder(str(outcomes[0].run)).agent_log.read_text()


def test_a_task_that_is_not_there_is_told_and_leaves_no_thread(runs: Path) -> None:
    async def mistyped() -> None:
        async with sandbox.open_async("humanize/nothing", runs=runs):
            raise AssertionError("it began")

    with pytest.raises(UsageError, match="no task"):
        asyncio.run(mistyped())
    deadline = time.monotonic() + 10
    while any(thread.name.startswith("world") for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.slow
def test_an_interrupt_ends_a_world_and_the_action_under_way(runs: Path) -> None:
    program = (
        "import sandbox\n"
        f"with sandbox.open({TASK!r}, runs={str(runs)!r}) as world:\n"
        "    print('begun', flush=True)\n"
        "    world.step('run_command', command='sleep 600')\n"
    )
    started = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert started.stdout
    assert started.stdout.readline() == b"begun\n"
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=60)
    assert b"KeyboardInterrupt" in said
    (folder,) = Store(runs).folders()
    assert folder.record().problem == "It was interrupted."
    assert_gone(folder)


@pytest.mark.slow
def test_any_thread_may_interrupt_a_world_which_then_has_no_outcome(runs: Path) -> None:
    world = sandbox.open(TASK, runs=runs)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(world.step, "run_command", command="sleep 600")
        time.sleep(1)
        world.interrupt()
        assert world.over
        assert waiting.result(timeout=10).status != "ok"
    with pytest.raises(UsageError, match="interrupted"):
        world.finish()
    assert_gone(Store(runs).find("last"))


@pytest.mark.slow
def test_an_interrupt_after_the_end_changes_nothing(runs: Path) -> None:
    world = sandbox.open(TASK, runs=runs)
    outcome = world.finish()
    world.interrupt()
    assert world.finish() is outcome
    assert Store(runs).find("last").record().verdict is Verdict.FAILED


@pytest.mark.slow
def test_measuring_changes_no_verdict(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: RunFolder) -> None:
        raise RuntimeError

    monkeypatch.setattr("sandbox.run.judged_trial.remember", broken)
    with suppress(RuntimeError):
        sandbox.evaluate(TASK, lambda _: None, runs=runs)
    record = Store(runs).find("last").record()
    assert (record.verdict, record.problem) == (Verdict.FAILED, "")
