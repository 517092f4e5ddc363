"""What a node does with a cell: the command `sandbox resume` on an experiment of this cell alone.

A process of its own does it. It is interrupted, and puts its containers away, where the process
that the cluster knows is killed.
"""

import fcntl
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from pydantic import TypeAdapter

from sandbox.container import engines
from sandbox.container.engines.base import Engine
from sandbox.model import places
from sandbox.model.errors import EngineError, SandboxError
from sandbox.model.job import JobResult
from sandbox.model.scratch import Scratch
from sandbox.model.verdict import Verdict
from sandbox.model.version import VERSION
from sandbox.run.cluster.cell import Cell, Delivery, digest_of
from sandbox.run.experiment import FOLDER

TIED = Path(__file__).with_name("tied.py")

RESULTS = TypeAdapter(list[JobResult])

GRACE = 60.0
"""Seconds in which a run that is interrupted has to have put its containers away."""

ERRORS_MOST = 500
"""Characters that are told of what the command wrote to standard error."""

ENGINE_PAUSE = 20.0
"""Seconds that a node without an engine holds a cell: others take what is left meanwhile."""


Archive = Callable[[], bytes]
"""Brings an image as an engine saves it."""


def perform(cell: Cell, archive: Archive | None, pause: float = ENGINE_PAUSE) -> Delivery:
    """Do the run and give its folder; what goes wrong is the result's problem.

    `archive` brings the task's image, where the experiment has sent it.
    """
    if cell.version != VERSION:
        problem = f"has sandbox {VERSION}, and {cell.version} asks it"
        return _refused(cell, problem, lasting=True)
    try:
        with closing(engines.connect()) as engine:
            if not _has_image(engine, cell.image, archive):
                return Delivery(node=socket.gethostname(), lacks_image=True)
    except SandboxError as error:
        if isinstance(error, EngineError):
            time.sleep(pause)
        return _refused(cell, f"cannot do it: {error.message}")
    with Scratch("cell") as folder:
        return _done(cell, folder)


def _done(cell: Cell, folder: Path) -> Delivery:
    experiment = folder / FOLDER / cell.experiment
    experiment.mkdir(parents=True)
    # Agents that are named by a path are looked for where the experiment was begun.
    begun = cell.plan.folder if Path(cell.plan.folder).is_dir() else str(folder)
    plan = cell.plan.model_copy(update={"folder": begun})
    (experiment / "plan.json").write_text(plan.model_dump_json(), encoding="utf-8")
    code, printed, errors = _command("resume", cell.experiment, "--runs", str(folder))
    try:
        (result,) = RESULTS.validate_json(printed)
    except ValueError:
        told = " ".join(errors.decode("utf-8", "replace").split())[-ERRORS_MOST:]
        return _refused(cell, f"could not do it: {told or f'exit code {code}'}", lasting=code == 2)
    if result.run is None:
        return Delivery(node=socket.gethostname(), result=result)
    run = folder / result.run
    files = {str(path.relative_to(run)): path.read_bytes() for path in _files(run)}
    return Delivery(node=socket.gethostname(), result=result, files=files, digest=digest_of(files))


def _command(*arguments: str) -> tuple[int, bytes, bytes]:
    """Run `sandbox` with arguments; interrupt it where this process is, and wait until it ends."""
    command = [sys.executable, "-m", "sandbox", *arguments, "--retries", "0", "--json"]
    tied = [sys.executable, "-I", "-S", str(TIED), str(os.getpid()), *command]
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            tied,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
        try:
            printed, _ = child.communicate()
        except BaseException:
            child.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                child.wait(GRACE)
            raise
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
        errors.seek(0)
        return child.returncode, printed, errors.read()


def _has_image(engine: Engine, tag: str, archive: Archive | None) -> bool:
    """Whether the engine has an image, once it was loaded where there is an archive of it."""
    if engine.image(tag) is not None:
        return True
    if archive is None:
        return False
    with _alone(), Scratch("image") as folder:
        if engine.image(tag) is None:  # nor has another cell's process brought it meanwhile
            saved = folder / "image.tar"
            saved.write_bytes(archive())
            engine.load(saved, tag=tag)
    return True


@contextmanager
def _alone() -> Iterator[None]:
    """Load one image after the other on a machine."""
    folder = places.cache()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".loading").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _refused(cell: Cell, problem: str, *, lasting: bool = False) -> Delivery:
    node = socket.gethostname()
    result = JobResult(
        job=cell.job,
        run=None,
        verdict=Verdict.ERROR,
        problem=f"The node {node} {problem}",
        lasting=lasting,
    )
    return Delivery(node=node, result=result)


def _files(run: Path) -> list[Path]:
    """Give the files of a run's folder; locks and sockets begin with a dot, or are none."""
    found = (path for path in run.rglob("*") if not path.name.startswith("."))
    return sorted(path for path in found if path.is_file() and not path.is_symlink())
