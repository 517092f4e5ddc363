"""Each promise of SPECIFICATION.md names tests that exist."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
TEXT = (TESTS.parent / "SPECIFICATION.md").read_text(encoding="utf-8")
PROMISES = re.findall(r"^- \*\*([A-Z]\d+)\*\* (.*)$", TEXT, re.MULTILINE)


def test_no_number_is_given_twice() -> None:
    numbers = [number for number, _ in PROMISES]
    assert len(numbers) == len(set(numbers)) > 0


@pytest.mark.parametrize(("number", "promise"), PROMISES, ids=[number for number, _ in PROMISES])
def test_a_promise_names_tests_that_exist(number: str, promise: str) -> None:
    links = re.findall(r"`([\w/]+\.py)::(\w+)`", promise)
    assert links, f"{number} names no test"
    for file, name in links:
        text = (TESTS / file).read_text(encoding="utf-8")
        assert re.search(rf"^\s*(def|class) {name}\b", text, re.MULTILINE), f"{file}::{name}"
