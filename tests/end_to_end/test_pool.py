"""Worlds that are started before they are asked for."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import sandbox
from sandbox.container.engines.base import Engine
from sandbox.model.errors import UsageError
from sandbox.model.store import Store
from sandbox.run.run_containers import RUN
from sandbox.tasks import library
from tests.end_to_end.commands import TASK

pytestmark = pytest.mark.engine


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def running(engine: Engine, runs: Path) -> list[str]:
    """The containers of a store's runs."""
    folders = list(Store(runs).folders()) if runs.exists() else []
    return [each.id for run in folders for each in engine.containers(f"{RUN}={run.id}")]


@pytest.mark.slow
def test_each_world_is_its_own_and_what_was_not_opened_leaves_nothing(
    runs: Path, engine: Engine
) -> None:
    *steps, final = library.load(TASK).task.oracle
    with sandbox.Pool(TASK, 2, name="pooled", runs=runs) as pool:
        until(lambda: len(running(engine, runs)) >= 2)
        before = time.monotonic()
        world = pool.open()
        time.sleep(1)
        assert world.step("run_command", command="touch /tmp/mine").status == "ok"
        with pool.open() as other:
            looked = other.step("run_command", command="ls /tmp/mine")
        assert looked.result["exit_code"] == 2, "a container is used once"
        for each in steps:
            assert world.step(each.action, each.arguments).status == "ok"
        fields = final.arguments["fields"]
        assert isinstance(fields, dict)
        passed = world.finish(fields)
        assert passed.passed
    assert other.outcome is not None
    folders = list(Store(runs).folders())
    assert {folder.id for folder in folders} == {passed.run, other.outcome.run}
    assert {folder.record().agent for folder in folders} == {"pooled"}
    end = Store(runs).find(passed.run).record().end
    assert end is not None
    assert end.seconds <= time.monotonic() - before, "its time begins when it is opened"
    until(lambda: running(engine, runs) == [])


@pytest.mark.slow
def test_one_that_is_closed_while_a_world_looks_whether_it_is_wanted_still_ends(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, goes_on = threading.Event(), threading.Event()

    def shutting_down() -> bool:
        looks.set()
        goes_on.wait(20)
        return False

    monkeypatch.setattr("sandbox.run.python._shutting_down", shutting_down)
    pool = sandbox.Pool(TASK, 1, runs=runs)
    assert looks.wait(60)
    closing = threading.Thread(target=pool.close, daemon=True)
    closing.start()
    time.sleep(0.3)
    goes_on.set()
    closing.join(20)
    assert not closing.is_alive()
    assert list(Store(runs).folders()) == []


@pytest.mark.slow
def test_threads_share_one(runs: Path) -> None:
    with sandbox.Pool(TASK, 2, runs=runs) as pool:

        def act(number: int) -> str:
            with pool.open() as world:
                reply = world.step("run_command", command=f"echo {number}")
                return str(reply.result["stdout"])

        with ThreadPoolExecutor(3) as threads:
            assert list(threads.map(act, range(3))) == ["0\n", "1\n", "2\n"]
    assert len(list(Store(runs).folders())) == 3


def test_a_program_that_ends_without_closing_it_ends(runs: Path) -> None:
    line = f"import sandbox, time; p = sandbox.Pool({TASK!r}, 1, runs={str(runs)!r}); time.sleep(3)"
    done = subprocess.run([sys.executable, "-c", line], timeout=60, check=False)
    assert done.returncode == 0
    assert list(Store(runs).folders()) == []


def test_what_cannot_be_is_told(runs: Path) -> None:
    with pytest.raises(UsageError, match="no task"):
        sandbox.Pool("nothing/here", runs=runs)
    with pytest.raises(UsageError, match="holds nothing"):
        sandbox.Pool(TASK, 0, runs=runs)
    pool = sandbox.Pool(TASK, 1, runs=runs)
    pool.close()
    with pytest.raises(UsageError, match="closed"):
        pool.open()
    assert list(Store(runs).folders()) == []
