"""The container in which a candidate is tested, and a candidate that would fill its disk."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import pytest

from sandbox.container.candidate import Candidate, CandidateFile
from sandbox.container.engines.base import Engine
from sandbox.model import places
from sandbox.model.grade import TestReport
from sandbox.model.session import MEBIBYTE
from sandbox.run.fresh_session import FreshSession
from sandbox.run.run_containers import begin
from sandbox.tasks import library
from sandbox.tasks.images import Images

pytestmark = pytest.mark.engine

LOADED = library.load("humanize/file-sizes")
LIMITS = LOADED.task.limits.model_copy(update={"disk_bytes": 64 * MEBIBYTE})
TASK = replace(LOADED, task=LOADED.task.model_copy(update={"limits": LIMITS}))
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
    with fresh_session(engine) as fresh:
        report = fresh.tested(candidate(WRITES_ON))
        assert report.problem.startswith("The candidate filled its disk while it was tested.")
        with pytest.raises(FileNotFoundError):
            fresh.session().read("/var/tmp/done")


@contextmanager
def fresh_session(engine: Engine) -> Iterator[FreshSession]:
    image = Images(engine, places.cache()).ensure(LOADED, lambda _: None)
    start = partial(begin, engine, TASK, image, "fills")
    with ThreadPoolExecutor(1) as pool, FreshSession(TASK, start, pool, early=True) as fresh:
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
