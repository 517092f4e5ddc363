"""A task of one module, and its grading in a container of a real one's image."""

from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.container.candidate import Candidate, CandidateFile
from sandbox.container.engines.base import Engine, SessionSpec
from sandbox.grading.grading_session import GradingSession
from sandbox.grading.hidden import run_tests
from sandbox.model import places
from sandbox.model.grade import TestReport
from sandbox.tasks import library
from sandbox.tasks.images import Images
from sandbox.tasks.library import LoadedTask
from tests.sandbox.grading.probe import ANSWER, FILE, TESTS, Run


@pytest.fixture(scope="module")
def image(engine: Engine) -> str:
    task = library.load("humanize/file-sizes")
    return Images(engine, places.cache()).ensure(task, print).tag


@pytest.fixture
def task(tmp_path: Path) -> LoadedTask:
    """A small task in the repository of a real one."""
    hidden = tmp_path / "hidden" / FILE
    hidden.parent.mkdir(parents=True)
    hidden.write_text(TESTS)
    loaded = library.load("humanize/file-sizes")
    update: dict[str, object] = {
        "hidden": "hidden",
        "fail_to_pass": (ANSWER,),
        "pass_to_pass": (),
        "cases": None,
    }
    tests = loaded.task.tests.model_copy(update=update)
    return replace(loaded, task=loaded.task.model_copy(update={"tests": tests}), folder=tmp_path)


@pytest.fixture
def run(engine: Engine, image: str, task: LoadedTask) -> Run:
    def run(
        probe: str,
        timeout: float = 20.0,
        cpus: float = 2.0,
        own: tuple[str, ...] = (),
        **files: str,
    ) -> TestReport:
        found = {"src/humanize/probe.py": probe, **files}
        content = {
            path: CandidateFile(text.encode(), executable=False) for path, text in found.items()
        }
        tests = task.task.tests.model_copy(update={"timeout_seconds": timeout, "own": own})
        limits = task.task.limits.model_copy(update={"cpus": cpus})
        update = {"tests": tests, "limits": limits}
        limited = replace(task, task=task.task.model_copy(update=update))
        with engine.start(SessionSpec(image)) as session:
            return run_tests(GradingSession.prepare(limited, session), Candidate(content, (), {}))

    return run
