"""The container in which a candidate is tested, and a candidate that would fill its disk."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from queue import SimpleQueue

import pytest

from sandbox.container.candidate import Candidate, CandidateFile
from sandbox.container.engines.base import Engine, Session
from sandbox.model import places
from sandbox.model.grade import TestReport
from sandbox.model.session import MEBIBYTE
from sandbox.run.fresh_session import FreshSession
from sandbox.run.run_containers import begin
from sandbox.run.stop import Stop
from sandbox.tasks import library
from sandbox.tasks.images import Images
from sandbox.tasks.library import LoadedTask

pytestmark = pytest.mark.engine

LOADED = library.load("humanize/file-sizes")
LIMITS = LOADED.task.limits.model_copy(update={"disk_bytes": 64 * MEBIBYTE})
TASK = replace(LOADED, task=LOADED.task.model_copy(update={"limits": LIMITS}))
TESTS = TASK.task.tests.model_copy(update={"cases": None})
WITHOUT_CASES = replace(TASK, task=TASK.task.model_copy(update={"tests": TESTS}))
WRITES = """import tempfile, time
kept = tempfile.TemporaryFile()
kept.write(bytes({} << 20))
kept.flush()
time.sleep(0.5)
from humanize.filesize import naturalsize
"""


WRITES_ON = """import pathlib, time
kept = pathlib.Path("/var/tmp/kept").open("wb")
for _ in range(400):
    kept.write(bytes(1 << 20))
    kept.flush()
    time.sleep(0.03)
pathlib.Path("/var/tmp/done").touch()
"""


@pytest.mark.slow
def test_a_candidate_that_goes_on_to_fill_the_disk_is_stopped(engine: Engine) -> None:
    with fresh_session(engine, WITHOUT_CASES) as fresh:
        report = fresh.tested(candidate(WRITES_ON))
        assert report.problem.startswith("The candidate filled its disk while it was tested.")
        with pytest.raises(FileNotFoundError):
            fresh.session().read("/var/tmp/done")


SLEEPS = """import pathlib, time
pathlib.Path("/var/tmp/begun").touch()
time.sleep(3600)
"""


@pytest.mark.slow
def test_hidden_tests_end_with_the_batch_that_they_belong_to(engine: Engine) -> None:
    stop = Stop()
    ready = SimpleQueue[Session]()

    def grade() -> None:
        with fresh_session(stop.engine(engine), WITHOUT_CASES) as fresh:
            ready.put(fresh.session())
            fresh.tested(candidate(SLEEPS))

    with ThreadPoolExecutor(1) as pool:
        graded = pool.submit(grade)
        session = ready.get(timeout=60)
        while not exists(session, "/var/tmp/begun"):
            pass
        stop.finish([graded])
        with pytest.raises(KeyboardInterrupt):
            graded.result()


def exists(session: Session, path: str) -> bool:
    try:
        session.stat(path)
    except FileNotFoundError:
        return False
    return True


@contextmanager
def fresh_session(engine: Engine, task: LoadedTask = TASK) -> Iterator[FreshSession]:
    image = Images(engine, places.cache()).ensure(LOADED, lambda _: None)
    start = partial(begin, engine, task, image, "fills")
    with ThreadPoolExecutor(1) as pool, FreshSession(task, start, pool, early=True) as fresh:
        yield fresh


def candidate(module: str) -> Candidate:
    file = CandidateFile(module.encode(), executable=False)
    return Candidate({"src/humanize/__init__.py": file}, (), {})


def report_of(engine: Engine, mebibytes: int) -> TestReport:
    with fresh_session(engine) as fresh:
        return fresh.tested(candidate(WRITES.format(mebibytes)))


@pytest.mark.slow
def test_a_candidate_that_fills_the_disk_has_no_outcomes(engine: Engine) -> None:
    report = report_of(engine, 200)
    assert not report.outcomes
    assert report.problem.startswith("The candidate filled its disk while it was tested. It has")


@pytest.mark.slow
def test_one_that_writes_less_has(engine: Engine) -> None:
    report = report_of(engine, 1)
    assert report.outcomes
    assert not report.problem
