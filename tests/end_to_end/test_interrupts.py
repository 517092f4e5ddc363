"""Ctrl-C at a terminal, and its like: at any moment the run is recorded and nothing is left."""

import os
import secrets
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandbox.cli.run_end import where_to_look
from sandbox.container.engines.base import MANAGED, Engine
from sandbox.container.engines.docker import reach
from sandbox.run.run_containers import RUN
from sandbox.tasks.images import BuiltImage
from tests.end_to_end import scripts
from tests.end_to_end.begun import Begun
from tests.end_to_end.commands import SECONDS, TASK, Recorded, ended_containers, recorded, sandbox
from tests.end_to_end.project import Project
from tests.end_to_end.scripts import command
from tests.end_to_end.terminal import CONTROL_C, Terminal

pytestmark = pytest.mark.engine


def interrupted(stored: Recorded) -> None:
    assert stored.record.verdict == "error"
    assert stored.record.problem == "It was interrupted."
    assert stored.grade.problem == "It was interrupted."


def running(argument: str) -> list[str]:
    """Processes of this host, those in containers of a local engine included."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if argument.encode() in path.read_bytes().split(b"\0"):
                found.append(path.parent.name)
        except OSError:
            continue  # it has ended meanwhile
    return found


def gone(exists: Callable[[], bool]) -> bool:
    """Wait until it is no longer so: a process that was killed takes a moment to end."""
    end = time.monotonic() + SECONDS
    while exists() and time.monotonic() < end:
        time.sleep(0.02)
    return not exists()


def alive(process: int) -> bool:
    """Whether a process has not ended, if only its parent has not asked for its status yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
def test_while_an_image_is_built(project: Project, runs: Path) -> None:
    seconds = str(100_000 + secrets.randbelow(100_000))
    file = project.folder / "images" / "python" / "environment.Dockerfile"
    project.replace(file, "ARG ", f"RUN sleep {seconds}\nARG ")
    arguments = ("run", TASK, "--agent", "null", "--runs", runs)
    with Terminal(*arguments, **project.environment) as terminal:
        terminal.until(f"sleep {seconds}")
        terminal.press()
        assert terminal.end() == 130
    assert "Traceback" not in terminal.text
    assert not runs.exists()
    assert gone(lambda: bool(running(seconds)))


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["attach", "socket"])
def test_while_a_container_starts(runs: Path, engine: Engine, transport: str) -> None:
    arguments = ("run", TASK, "--agent", "null", "--runs", runs)
    with Terminal(*arguments, SANDBOX_TRANSPORT=transport) as terminal:
        terminal.until("starting a container")
        terminal.press()
        assert terminal.end() == 130
    interrupted(recorded(runs, engine))
    assert "interrupted" in terminal.text
    assert "Traceback" not in terminal.text


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["attach", "socket"])
def test_while_a_command_runs(runs: Path, engine: Engine, tmp_path: Path, transport: str) -> None:
    script = scripts.write(tmp_path / "script.yaml", command("sleep 600"))
    arguments = ("run", TASK, "--agent", script, "--runs", runs)
    with Terminal(*arguments, SANDBOX_TRANSPORT=transport) as terminal:
        terminal.until("run_command sleep 600")
        terminal.press()
        assert terminal.end() == 130
    stored = recorded(runs, engine)
    interrupted(stored)
    assert stored.ended.reason == "interrupted"
    assert "Traceback" not in terminal.text


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["grading in a fresh container", "running the hidden tests"])
def test_while_it_is_graded(runs: Path, engine: Engine, stage: str) -> None:
    with Terminal("run", TASK, "--agent", "null", "--runs", runs) as terminal:
        terminal.until(stage)
        terminal.press()
        assert terminal.end() == 130
    stored = recorded(runs, engine)
    interrupted(stored)
    assert stored.ended.reason == "agent_exited"
    assert "Traceback" not in terminal.text


@pytest.mark.slow
def test_impatience_breaks_off_nothing(runs: Path, engine: Engine, tmp_path: Path) -> None:
    script = scripts.write(tmp_path / "script.yaml", command("sleep 600"))
    with Terminal("run", TASK, "--agent", script, "--runs", runs) as terminal:
        terminal.until("run_command sleep 600")
        terminal.press(2 * CONTROL_C)
        assert terminal.end() == 130
    stored = recorded(runs, engine)
    interrupted(stored)
    assert stored.ended.reason == "interrupted"


@pytest.mark.slow
def test_one_interrupt_ends_a_run_whose_container_is_frozen(
    runs: Path, engine: Engine, tmp_path: Path
) -> None:
    with Begun(tmp_path, runs) as begun:
        client, _ = reach()
        (container,) = engine.containers(f"{RUN}={begun.id}")
        client.pause(container.id)
        os.kill(begun.process.pid, signal.SIGINT)
        ended = begun.end()
        client.close()
    stored = recorded(runs, engine)
    assert (ended.code, ended.err) == (130, f"{where_to_look(stored.folder)}\ninterrupted\n")
    interrupted(stored)
    assert stored.ended.reason == "interrupted"


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_agents_processes_end_with_it(
    runs: Path, engine: Engine, tmp_path: Path, number: signal.Signals
) -> None:
    with Begun(tmp_path, runs) as begun:
        assert all(alive(process) for process in begun.agents)
        os.kill(begun.process.pid, number)
        ended = begun.end()
    stored = recorded(runs, engine)
    assert (ended.code, ended.err) == (130, f"{where_to_look(stored.folder)}\ninterrupted\n")
    interrupted(stored)
    assert stored.ended.reason == "interrupted"
    assert gone(lambda: any(alive(process) for process in begun.agents))


@pytest.mark.slow
def test_a_harness_that_is_killed_leaves_nothing_that_gc_does_not_find(
    runs: Path, engine: Engine, tmp_path: Path
) -> None:
    with Begun(tmp_path, runs) as begun:
        run = begun.id
    shown = sandbox("show", run, "--runs", runs).out
    assert "verdict: error" in shown
    assert "The harness was killed before the run had ended" in shown
    (left,) = ended_containers(engine, run)
    assert sandbox("gc").code == 0
    assert left not in [each.id for each in engine.containers(MANAGED)]


@pytest.mark.slow
def test_what_the_engine_makes_late_for_a_harness_that_was_killed_goes_with_the_same_gc(
    runs: Path, engine: Engine, image: BuiltImage, tmp_path: Path
) -> None:
    with Begun(tmp_path, runs) as begun:
        run = begun.id
    ended_containers(engine, run)
    client, _ = reach()
    labels = {MANAGED: "1", RUN: run}

    def late() -> str:
        time.sleep(2)
        return str(client.create_container(image.id, ["/bin/true"], labels=labels)["Id"])

    with ThreadPoolExecutor(1) as pool:
        made = pool.submit(late)
        ended = sandbox("gc", run, "--runs", runs)
    client.close()
    assert "2 containers removed" in ended.out, ended
    assert made.result() not in [each.id for each in engine.containers(MANAGED)]
