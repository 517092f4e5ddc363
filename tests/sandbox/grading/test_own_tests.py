"""Tests that the agent had to write."""

import pytest

from sandbox.tasks.library import LoadedTask
from tests.sandbox.grading.probe import ANSWER, RIGHT, Run

pytestmark = pytest.mark.engine

OWN = "tests/test_own.py"
OWN_TEST = """
def test_own():
    import humanize.probe

    assert humanize.probe.answer() == 42
"""
COUNTING = """
import os

MARKS = ("/tmp/mark", "/var/tmp/mark", "/dev/shm/mark")


def test_own():
    seen = [mark for mark in MARKS if os.path.exists(mark)]
    for mark in MARKS:
        open(mark, "a").close()
    assert not seen
"""


WRITING = """
import pathlib

import humanize.probe

BESIDE = pathlib.Path(__file__).with_name("made.txt")


def test_own():
    assert not BESIDE.exists()
    BESIDE.write_text(str(humanize.probe.answer()))
    assert BESIDE.read_text() == "42"
"""


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        (OWN_TEST, 1),
        (WRITING, 0),
        ("def test_own():\n    pass\n", 0),
        (COUNTING, 0),
    ],
)
def test_a_test_of_ones_own_is_told_apart_by_the_fix_alone(
    run: Run, task: LoadedTask, text: str, failed: int
) -> None:
    report = run(RIGHT, own=(OWN,), **{OWN: text})
    assert report.own is not None
    own = report.own[OWN]
    assert (own.with_fix.passed, own.with_fix.failed) == (1, 0)
    assert own.without_fix.failed == failed
    assert report.outcomes[ANSWER] == "passed"
