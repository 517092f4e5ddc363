"""What tests call is written down as lines that give the same again."""

import json
import os
import subprocess
import sys
from pathlib import Path

from sandbox.run.mine.recorded_calls import PLUGIN

CODE = """import datetime

class Box:
    def __init__(self, size, *, name="box"):
        self.size = size
        self.name = name
    def grown(self, by=1):
        return Box(inner(self.size) + by)
    @classmethod
    def named(cls, name):
        return cls(1, name=name)
    @staticmethod
    def unit():
        return "cm"
    @property
    def volume(self):
        return self.size ** 3
    def __lt__(self, other):
        return self.size < other.size

def inner(number):
    return number

def joined(*parts, between=", ", **more):
    return between.join(map(str, parts)) + str(sorted(more))

def numbers(upto):
    yield from range(upto)

def mapped(function, values):
    return [function(value) for value in values]

def since(day):
    return datetime.date.today() - day

def wrong(text):
    raise ValueError(text)
"""
TESTS = """
import datetime
from collections import OrderedDict
import pytest
from code_under_test import Box, inner, joined, mapped, numbers, since, wrong

def test_objects():
    box = Box(3)
    assert box.grown(by=4).size == 7
    assert box < Box(5, name="big")
    assert Box.named("x").volume == 1
    assert Box.unit() == "cm"

def test_functions():
    assert joined(1, "a", between="-", z=0.5) == "1-a['z']"
    assert list(numbers(2)) == [0, 1]
    assert mapped(len, [b"ab", (1,)]) == [2, 1]
    assert inner({"day": datetime.date(2024, 2, 29), "left": {1}})

def unlike(one, other):
    return one != other

def halved(number):
    half = number / 2
    return half

def test_functions_that_are_handed_over():
    assert mapped(lambda each: each, [1]) == [1]
    assert mapped(inner, iter([1, 2])) == [1, 2]
    assert mapped(inner, (3,)) == [3]
    assert inner(Box) is Box
    assert joined(unlike, OrderedDict)
    left = iter([1, 2, 3])
    next(left)
    assert mapped(str, left) == ["2", "3"]

LARGE = Box(100, name="made before")
LARGE.grown(7)
UNUSED = Box(200)

@pytest.fixture(scope="module")
def shared():
    box = Box(LARGE.grown().size)
    assert box.volume > 1
    return box

def test_what_was_made_before(shared):
    assert inner(shared)

def test_what_was_made_for_another_test(shared):
    assert LARGE < shared

class TestPrepared:
    def setup_method(self):
        self.box = Box.named("prepared")
        self.today = since(datetime.date(2000, 1, 1))

    def test_what_looked_at_the_clock_before(self):
        assert inner(self.box)

def test_what_cannot_be_written():
    assert mapped(halved, [1]) == [0.5]
    more = 1
    assert mapped(lambda each: each + more, [1]) == [2]
    assert mapped(lambda each: halved(each), [1]) == [0.5]
    assert inner(float("nan")) != 1
    with pytest.raises(ValueError):
        wrong("no")

def test_the_clock():
    assert since(datetime.date.today()).days == 0
    assert inner(1) == 1

def test_the_clock_of_the_test():
    assert datetime.date.today().year > 2000
    assert inner(2) == 2

def test_nothing():
    pass
"""


def test_calls_of_tests_are_lines_that_can_be_played(tmp_path: Path) -> None:
    (tmp_path / "code_under_test.py").write_text(CODE)
    (tmp_path / "test_it.py").write_text(TESTS)
    about = {
        "sources": [str(tmp_path / "code_under_test.py")],
        "tests": [str(tmp_path / "test_it.py")],
        "into": str(tmp_path / "calls.jsonl"),
    }
    (tmp_path / "about").write_text(json.dumps(about))
    environment = {
        **os.environ,
        "RECORDED": str(tmp_path / "about"),
        "PYTEST_ADDOPTS": "",
    }
    command = (sys.executable, "-m", "pytest", "-q", "-p", PLUGIN, "-p", "no:cacheprovider")
    ended = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout
    told = map(json.loads, (tmp_path / "calls.jsonl").read_text().splitlines())
    assert {each["test"]: each["lines"] for each in told} == {
        "test_it.py::test_objects": [
            "code_under_test:Box(3)",
            "_0.grown(4)",
            "code_under_test:Box(5, name='big')",
            "_0.__lt__(_2)",
            "code_under_test:Box.named('x')",
            "_4.volume",
            "code_under_test:Box.unit()",
        ],
        "test_it.py::test_functions": [
            "code_under_test:joined(1, 'a', between='-', z=0.5)",
            "code_under_test:numbers(2)",
            "code_under_test:mapped(len, [b'ab', (1,)])",
            "code_under_test:inner({'day': datetime.date(2024, 2, 29), 'left': set([1])})",
        ],
        "test_it.py::test_functions_that_are_handed_over": [
            "(lambda each: each)",
            "code_under_test:mapped(_0, [1])",
            "code_under_test:inner",
            "code_under_test:mapped(_2, iter([1, 2]))",
            "code_under_test:mapped(_2, (3,))",
            "code_under_test:Box",
            "code_under_test:inner(_5)",
            "(lambda one, other: one != other)",
            "collections:OrderedDict",
            "code_under_test:joined(_7, _8, between=', ')",
            "code_under_test:mapped(str, iter([2, 3]))",
        ],
        "test_it.py::test_what_was_made_before": [
            "code_under_test:Box(101)",
            "_0.volume",
            "code_under_test:inner(_0)",
        ],
        "test_it.py::test_what_was_made_for_another_test": [
            "code_under_test:Box(100, name='made before')",
            "_0.grown(7)",
            "_0.grown()",
            "code_under_test:Box(101)",
            "_3.volume",
            "_0.__lt__(_3)",
        ],
        "test_it.py::test_what_cannot_be_written": ["code_under_test:wrong('no')"],
        "test_it.py::test_the_clock_of_the_test": ["code_under_test:inner(2)"],
    }
