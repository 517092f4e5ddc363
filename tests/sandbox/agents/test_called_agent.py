"""An agent that is called: calls wait in line, each gets its own reply, the end is told to all."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandbox.agents.base import Garbage
from sandbox.agents.called_agent import CalledAgent
from sandbox.model.action import Request
from sandbox.model.briefing import Reply
from sandbox.model.errors import ModelError
from tests.sandbox.runs import World
from tests.sandbox.worlds import task


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "tree").mkdir()
    return World(tmp_path)


def talk(world: World, caller: Callable[[CalledAgent], object]) -> CalledAgent:
    """Run with one caller, which begins when the run does."""
    begun = threading.Event()
    agent = CalledAgent("caller", lambda _: begun.set())
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(lambda: (begun.wait(60), caller(agent)))
        world.run(agent)
        done.result(60)
    return agent


def test_each_call_gets_its_own_reply(world: World) -> None:
    def caller(agent: CalledAgent) -> None:
        def echo(number: int) -> bool:
            answer = agent.call("run_command", {"command": f"echo {number}"})
            return answer.result["stdout"] == f"{number}\n"

        with ThreadPoolExecutor(16) as callers:
            assert all(callers.map(echo, range(64)))
        assert agent.call("final_answer", {"fields": {}}).status == "ok"

    talk(world, caller)
    assert world.ended.reason == "final_answer"
    assert world.ended.turns == 65
    ids = [entry.action_id for entry in world.entries if entry.event.kind == "action"]
    assert ids == [str(number) for number in range(1, 66)]


def test_a_caller_that_leaves_ends_the_run(world: World) -> None:
    def caller(agent: CalledAgent) -> None:
        agent.call("list_files", {})
        agent.leave("It was closed.")

    talk(world, caller)
    assert (world.ended.reason, world.ended.message) == ("agent_exited", "It was closed.")


def test_calls_that_wait_are_told_of_the_end(world: World) -> None:
    pipe = world.folder / "pipe"
    os.mkfifo(pipe)

    def caller(agent: CalledAgent) -> None:
        with ThreadPoolExecutor(4) as callers:
            first = callers.submit(agent.call, "run_command", {"command": f"cat {pipe}"})
            with pipe.open("w"):  # once the command is under way
                others = [callers.submit(agent.call, "list_files", {}) for _ in range(3)]
                agent.leave("Enough.")
            assert first.result(60).status == "ok"
            for other in others:
                answer = other.result(60)
                assert answer.error_code == "run_over"
                assert answer.message == "The run is over: Enough."

    agent = talk(world, caller)
    assert world.ended.turns == 1
    assert agent.call("list_files", {}).error_code == "run_over"


def test_the_last_call_of_a_budget_is_answered(world: World) -> None:
    world.task = task(limits={"turns": 1})
    codes: list[str | None] = []

    def caller(agent: CalledAgent) -> None:
        codes.extend(agent.call("list_files", {}).error_code for _ in range(2))

    talk(world, caller)
    assert codes == [None, "budget_exhausted"]
    assert world.ended.reason == "turn_limit"


def test_what_is_no_request_is_recorded_in_its_turn(world: World) -> None:
    def caller(agent: CalledAgent) -> None:
        answer = agent.garble(Garbage("It is none.", "hm"))
        assert (answer.error_code, answer.message) == ("bad_request", "It is none.")
        agent.leave("Enough.")

    talk(world, caller)
    assert world.codes == ["bad_request"]


def test_a_failure_is_raised_in_the_run(world: World) -> None:
    def caller(agent: CalledAgent) -> None:
        agent.fail(ModelError("It is down."))

    with pytest.raises(ModelError):
        talk(world, caller)
    assert (world.ended.reason, world.ended.message) == ("provider_error", "It is down.")


def test_nobody_calls(world: World) -> None:
    world.task = task(limits={"silence_seconds": 0.05})
    world.run(CalledAgent("caller"))
    assert world.ended.reason == "agent_silent"
    assert "called nothing" in world.ended.message


def test_waiting_may_go_on_after_a_timeout() -> None:
    agent = CalledAgent("caller")
    with pytest.raises(TimeoutError):
        agent.next(None, 0.0)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(agent.call, "list_files", {"path": "src"})
        request = agent.next(None, 60)
        assert isinstance(request, Request)
        assert (request.action, request.arguments) == ("list_files", {"path": "src"})
        with pytest.raises(TimeoutError):
            agent.next(Reply(id="1", status="ok", error_code=None, message=None, result={}), 0.0)
        assert answer.result(60).status == "ok"


def test_an_interrupt_that_another_thread_gets_ends_the_waiting() -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, interrupted)
    other = threading.Timer(0.2, lambda: signal.pthread_kill(other.ident or 0, signal.SIGUSR1))
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            CalledAgent("caller").next(None, 60)
    finally:
        other.join()
        signal.signal(signal.SIGUSR1, before)


INTERRUPTED = """
import random, signal, sys, threading
from sandbox.agents.called_agent import CalledAgent
from sandbox.model.briefing import Reply

def answer(agent):
    reply = None
    while (asked := agent.next(reply, 600)) is not None:
        reply = Reply(id=asked.id, status="ok", result={})

signal.signal(signal.SIGALRM, signal.default_int_handler)
chance = random.Random(1)
for number in range(2000):
    agent = CalledAgent("caller")
    loop = threading.Thread(target=answer, args=(agent,), daemon=True)
    loop.start()
    try:
        signal.setitimer(signal.ITIMER_REAL, chance.uniform(5e-6, 4e-4))
        while True:
            agent.call("git_diff", {})
    except KeyboardInterrupt:
        pass
    threading.Thread(target=agent.leave, args=("",), daemon=True).start()
    loop.join(60)
    if loop.is_alive():
        sys.exit(f"number {number} left a lock behind")
print("interrupted", number + 1)
"""


@pytest.mark.slow
def test_an_interrupt_at_any_moment_of_a_call_stops_nobody_else() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, check=False, text=True
    )
    assert (done.returncode, done.stdout) == (0, "interrupted 2000\n"), done.stderr
