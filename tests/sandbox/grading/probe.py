"""A small task in the repository of a real one: its tests, and candidates for it."""

from collections.abc import Callable

from sandbox.model.grade import TestReport

TESTS = """
import pytest

import humanize.probe


def test_answer():
    assert humanize.probe.answer() == 42


def test_skipped():
    pytest.skip("no reason")


@pytest.mark.parametrize("text", ["a b", "é/[]"])
def test_named(text):
    assert text
"""

FILE = "tests/test_probe.py"
ANSWER = f"{FILE}::test_answer"

Run = Callable[..., TestReport]


RIGHT = "def answer():\n    return 42\n"
WRONG = "def answer():\n    return 41\n"
