"""What a node makes of a cell: the run of an ordinary command, or a sentence."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine
from sandbox.model import places
from sandbox.model.experiment import Plan, PlannedAgent
from sandbox.model.job import Job
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from sandbox.model.version import VERSION
from sandbox.run.cluster import node
from sandbox.run.cluster.arrival import laid
from sandbox.run.cluster.cell import Cell
from sandbox.run.experiment import moment, opened
from sandbox.tasks import library
from sandbox.tasks.images import Images
from tests import ROOT

pytestmark = pytest.mark.slow

TASK = "humanize/file-sizes"


def cell(image: str = "i:1", *, digest: str = "", agent: str = "null") -> Cell:
    job = Job(task=TASK, task_digest=digest or library.load(TASK).digest, agent=agent, trial=1)
    plan = Plan(
        created=moment(),
        folder=str(ROOT),
        agents=(PlannedAgent(agent=agent),),
        approver="script",
        cells=(job,),
    )
    return Cell(version=VERSION, experiment="x", plan=plan, image=image)


def test_another_version_does_nothing() -> None:
    found = node.perform(cell().model_copy(update={"version": "0.0"}), None)
    assert found.result is not None
    assert (found.result.verdict, found.result.lasting) == (Verdict.ERROR, True)
    assert f"has sandbox {VERSION}, and 0.0 asks it" in found.result.problem


def test_a_node_without_an_engine_holds_a_cell_for_a_while(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    began = time.monotonic()
    found = node.perform(cell(), None, pause=0.5)
    assert time.monotonic() - began > 0.5
    assert found.result is not None
    assert (found.result.verdict, found.result.lasting) == (Verdict.ERROR, False)


@pytest.mark.engine
def test_a_run_comes_back_whole(engine: Engine, tmp_path: Path) -> None:
    tag = Images(engine, places.cache()).ensure(library.load(TASK), lambda _: None).tag
    assert node.perform(cell("sandbox-no-such-image:1"), None).lacks_image
    asked = cell(tag)
    found = node.perform(asked, None)
    assert found.result is not None, found
    assert (found.result.verdict, found.result.problem) == (Verdict.FAILED, "")
    store = Store(tmp_path)
    experiment = opened(store, asked.plan, "x")
    arrived = laid(found, asked.job, experiment, store)
    (folder,) = store.folders()
    record = folder.record()
    assert (arrived.run, record.experiment) == (folder.id, "x")
    assert (record.verdict, folder.objection(record)) == (Verdict.FAILED, "")
    assert not any(each.labels for each in engine.containers(f"sandbox.run={folder.id}"))


@pytest.mark.engine
def test_a_task_that_is_another_one_on_a_node_is_told(engine: Engine) -> None:
    tag = Images(engine, places.cache()).ensure(library.load(TASK), lambda _: None).tag
    found = node.perform(cell(tag, digest="0" * 64), None)
    assert found.result is not None
    assert (found.result.verdict, found.result.lasting) == (Verdict.ERROR, True)
    assert "versions of tasks are others" in found.result.problem


WAITS = "import signal, time\nprint('up', flush=True)\ntime.sleep(60)\n"
STARTS = """
import os, signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
tied = [sys.executable, "-I", "-S", sys.argv[1], str(os.getpid())]
child = subprocess.Popen([*tied, sys.executable, "-c", sys.argv[2]], start_new_session=True)
print(child.pid, flush=True)
child.wait()
"""


@pytest.mark.parametrize(
    ("who", "number"),
    [("parent", signal.SIGKILL), ("child", signal.SIGKILL), ("child", signal.SIGINT)],
)
def test_the_command_is_interrupted_where_the_process_that_began_it_is_killed(
    who: str, number: signal.Signals
) -> None:
    words = [sys.executable, "-c", STARTS, str(node.TIED), WAITS]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stderr is not None
        child = int(parent.stdout.readline())
        assert parent.stdout.readline() == b"up\n"
        os.kill(parent.pid if who == "parent" else child, number)
        assert b"KeyboardInterrupt" in parent.stderr.read(), "until the command has ended"
