"""What came back of a cell, laid into the folder of runs: whole, verified, and once."""

import re
import shutil
from contextlib import suppress
from pathlib import Path, PurePosixPath

from sandbox.grading.measured import remember
from sandbox.model.errors import SandboxError
from sandbox.model.job import Job, JobResult
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from sandbox.run.cluster.cell import Delivery, digest_of
from sandbox.run.experiment import Experiment

RUN = re.compile(r"[0-9a-f]{8}-[a-z0-9.-]+")
"""How runs are named: `Store.new_id`."""

ARRIVING = "arriving"
"""The folder of an experiment in which a run stands until it is whole."""


def laid(delivery: Delivery, job: Job, experiment: Experiment, store: Store) -> JobResult:
    """Lay a run into the store and give its result, an error where it is not what was sent.

    It is noted before it gets its name, so that nobody who is killed here does it twice.
    """
    result = delivery.result
    if result is None or result.run is None:
        problem = result.problem if result else "did nothing."
        return _error(job, problem, lasting=result is not None and result.lasting)
    folder = store.folder(result.run)
    try:
        objection = _objection(delivery, folder)
        if not objection:
            arriving = _written(delivery.files, experiment.path / ARRIVING / folder.id)
            objection = _mistaken(arriving, job, result)
        if objection:
            return _error(job, f"What {delivery.node} gave of {folder.id} is altered: {objection}")
        experiment.begins(job, folder)
        arriving.path.rename(folder.path)
    except SandboxError as error:
        return _error(job, error.message)
    except OSError as error:
        return _error(job, f"{folder.path} cannot be made: {error.strerror}.")
    finally:
        _remove(experiment.path / ARRIVING / folder.id)
    remember(folder)
    return result.model_copy(update={"job": job})


def _objection(delivery: Delivery, folder: RunFolder) -> str:
    if digest_of(delivery.files) != delivery.digest:
        return "its files are not those that were sent."
    parts = [PurePosixPath(name).parts for name in delivery.files]
    if any(not each or ".." in each or each[0] == "/" for each in parts):
        return "its files do not lie in its folder."
    if not RUN.fullmatch(folder.id):
        return "its name is that of no run."
    return f"{folder.path} is there already." if folder.path.exists() else ""


def _mistaken(folder: RunFolder, job: Job, result: JobResult) -> str:
    """Say in what a run is not what was asked for and told; empty where it is."""
    record = folder.record()
    asked = job.task, job.task_digest, job.mode, result.run, result.verdict
    if (record.task, record.task_digest, record.mode, record.id, record.verdict) != asked:
        return "it is of another task or mode, or has another end than was told."
    return folder.objection(record)


def _written(files: dict[str, bytes], path: Path) -> RunFolder:
    _remove(path)
    for name, content in files.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return RunFolder(path)


def _remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):  # others are arriving there
        path.parent.rmdir()


def _error(job: Job, problem: str, *, lasting: bool = False) -> JobResult:
    return JobResult(job=job, run=None, verdict=Verdict.ERROR, problem=problem, lasting=lasting)
