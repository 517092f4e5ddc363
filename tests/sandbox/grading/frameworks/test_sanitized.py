"""Tests of C under gcc's sanitizers, in a real container."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from sandbox.container.candidate import Candidate, CandidateFile
from sandbox.container.engines.base import Engine, SessionSpec
from sandbox.grading.grading_session import GradingSession
from sandbox.grading.hidden import run_tests
from sandbox.model import places
from sandbox.model.grade import TestReport
from sandbox.tasks.images import Images, package_clients
from sandbox.tasks.seeds import mined_repository
from sandbox.tasks.sources import Sources
from tests.sandbox.grading.frameworks.sanitized_attacks import MISUSED, SILENCED, SOUND

TEST = "tests/answer.c::the_answer"
SOURCE = """#include "unity/examples/unity_config.h"
#include "unity/src/unity.h"

int answer(void);

static void the_answer(void)
{
    TEST_ASSERT_EQUAL_INT(42, answer());
}

static void the_answer_again(void)
{
    TEST_ASSERT_EQUAL_INT(42, answer());
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(the_answer);
    RUN_TEST(the_answer_again);
    return UNITY_END();
}
"""

Run = Callable[[str, bool], TestReport]


@pytest.fixture(scope="module")
def run(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Grade a candidate by one file of tests, with sanitizers or without."""
    mined = mined_repository.load("cjson", Sources(places.cache(), package_clients.provide), print)
    loaded = mined.task()
    image = Images(engine, places.cache()).ensure(loaded, print)
    folder = tmp_path_factory.mktemp("task")
    (folder / "hidden/tests").mkdir(parents=True)
    (folder / "hidden/tests/answer.c").write_text(SOURCE)

    def run(source: str, sanitized: bool) -> TestReport:
        update = {"hidden": "hidden", "fail_to_pass": (TEST,), "sanitized": sanitized}
        tests = loaded.task.tests.model_copy(update=update)
        task = replace(loaded, task=loaded.task.model_copy(update={"tests": tests}), folder=folder)
        file = CandidateFile(source.encode(), executable=False)
        with engine.start(SessionSpec(image.tag)) as session:
            return run_tests(
                GradingSession.prepare(task, session), Candidate({"answer.c": file}, (), {})
            )

    return run


@pytest.mark.engine
@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", SOUND)
def test_what_is_sound_passes(run: Run, name: str) -> None:
    report = run(SOUND[name], True)
    assert report.problem == ""
    assert report.outcomes == {TEST: "passed", f"{TEST}_again": "passed"}


@pytest.mark.engine
@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("name", MISUSED)
def test_misused_memory_fails_a_test_that_passes_without_sanitizers(run: Run, name: str) -> None:
    report = run(MISUSED[name], True)
    assert report.outcomes.get(TEST) == "failed", report.problem
    assert not report.tampering
    if name != "gives back twice":  # which the library itself notices
        assert run(MISUSED[name], False).outcomes[TEST] == "passed"


@pytest.mark.engine
@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("name", SILENCED)
def test_a_silenced_sanitizer_passes_nothing(run: Run, name: str) -> None:
    report = run(SILENCED[name], True)
    assert report.outcomes.get(TEST) != "passed"
    assert report.outcomes or report.problem
