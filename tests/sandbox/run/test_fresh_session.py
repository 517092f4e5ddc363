"""The container in which a candidate is tested, and a candidate that would fill its disk."""

from concurrent.futures import ThreadPoolExecutor
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


def report_of(engine: Engine, mebibytes: int) -> TestReport:
    image = Images(engine, places.cache()).ensure(LOADED, lambda _: None)
    module = CandidateFile(WRITES.format(mebibytes).encode(), executable=False)
    candidate = Candidate({"src/humanize/__init__.py": module}, (), {})
    start = partial(begin, engine, TASK, image, "fills")
    with ThreadPoolExecutor(1) as pool, FreshSession(TASK, start, pool, early=True) as fresh:
        return fresh.tested(candidate)


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
