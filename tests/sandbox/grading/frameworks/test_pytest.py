import ast
import gc
import json
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.grading import outcomes
from sandbox.grading.frameworks.base import TestFile
from sandbox.grading.frameworks.pytest import RUNNER, WAYS, Pytest

FRAMEWORK = Pytest()

SOURCE = '''"""A module."""

from __future__ import annotations

import pytest

NAMES = ["a",
    "i"]; MORE = 1


@pytest.fixture(
    autouse=True)
def before(): pass


def test_sum_of_two():
    assert 1 + 1 == 2


@pytest.mark.parametrize("name", NAMES)
def test_names(name):
    text = """
def test_inside(): pass
"""
    assert name in text


class TestGroup:
    @pytest.mark.skip
    def test_skipped(self):
        pass

    @pytest.mark.xfail
    def test_expected(self):
        assert 0

    @pytest.mark.xfail
    def test_unexpected(self):
        pass


@pytest.fixture
def broken():
    raise OSError


def test_around(broken):
    pass


def test_wrong():
    assert 1 == 2'''

OUTCOMES = {
    "test_sum_of_two": "passed",
    "test_names[a]": "passed",
    "test_names[i]": "passed",
    "TestGroup::test_skipped": "skipped",
    "TestGroup::test_expected": "xfailed",
    "TestGroup::test_unexpected": "xpassed",
    "test_around": "error",
    "test_wrong": "failed",
}


@given(st.integers())
def test_canaries_leave_the_rest_of_a_file_as_it_is(seed: int) -> None:
    file = FRAMEWORK.with_canaries("test_a.py", SOURCE.encode(), random.Random(seed))
    assert len(file.canaries) == len(WAYS)
    names = {canary.removeprefix("test_a.py::") for canary in file.canaries}
    body = ast.parse(file.source).body
    assert not any(own.startswith(tuple(names)) for own in OUTCOMES)
    rest = [node for node in body if getattr(node, "name", "") not in names]
    assert len(rest) == len(body) - len(WAYS)
    assert list(map(ast.dump, rest)) == list(map(ast.dump, ast.parse(SOURCE).body))


def test_nothing_but_the_draw_tells_what_a_canary_is_called_and_where_it_stands() -> None:
    drawn = [
        FRAMEWORK.with_canaries("test_a.py", SOURCE.encode(), random.Random(seed))
        for seed in range(20)
    ]
    assert len({file.canaries for file in drawn}) == 20
    words = {word for file in drawn for name in file.canaries for word in name.split("_")[2:]}
    own = "sum of two names skipped expected unexpected around wrong"
    assert words <= set(own.split())


@pytest.mark.parametrize("source", [b"def test_a(:\n", b"\xff\xfe", b"a = '\0'"])
def test_a_file_that_is_no_module_is_told(source: bytes) -> None:
    with pytest.raises(ValueError):
        FRAMEWORK.with_canaries("test_a.py", source, random.Random(0))


def run(folder: Path, source: bytes) -> subprocess.CompletedProcess[bytes]:
    (folder / "test_a.py").write_bytes(source)
    (folder / "pytest.ini").write_text("[pytest]\n")
    arguments = ("-c", "pytest.ini", "--rootdir=.", "-p", "no:cacheprovider", "test_a.py")
    command = (sys.executable, str(RUNNER), *arguments)
    return subprocess.run(command, cwd=folder, capture_output=True, check=False)


@pytest.mark.parametrize("seed", range(3))
def test_the_runner_tells_each_outcome_and_canaries_fail(tmp_path: Path, seed: int) -> None:
    file = FRAMEWORK.with_canaries("test_a.py", SOURCE.encode(), random.Random(seed))
    ended = run(tmp_path, file.source)
    found = outcomes.read(ended.stdout, ended.returncode, file.canaries)
    assert found == {f"test_a.py::{name}": outcome for name, outcome in OUTCOMES.items()}


def test_every_way_to_fail_fails(tmp_path: Path) -> None:
    ways = [way.format(a=11, b=12, c=13) for group in WAYS for way in group]
    bodies = [way.replace("\n", "\n    ") for way in ways]
    source = "".join(f"def test_{n}():\n    {body}\n\n" for n, body in enumerate(bodies))
    ended = run(tmp_path, source.encode())
    *told, end = [json.loads(line) for line in ended.stdout.splitlines()]
    assert end == {"end": len(ways)}
    assert {test["outcome"] for test in told} == {"failed"}


def test_what_tests_print_is_no_outcome_and_nothing_runs_at_the_exit(tmp_path: Path) -> None:
    source = """
import atexit, os, sys
atexit.register(os._exit, 0)
os.write(1, b'{"test": "test_a.py::test_a", "outcome": "passed"}\\n')

def test_a():
    os.write(1, b"noise")
    sys.__stdout__.write("more")
    assert 0
"""
    ended = run(tmp_path, source.encode())
    assert outcomes.read(ended.stdout, ended.returncode, frozenset()) == {
        "test_a.py::test_a": "failed"
    }
    assert b"noise" in ended.stderr


def test_a_file_that_cannot_be_imported_has_no_outcomes(tmp_path: Path) -> None:
    ended = run(tmp_path, b"import nothing_of_this_name\n")
    with pytest.raises(outcomes.Stopped):
        outcomes.read(ended.stdout, ended.returncode, frozenset({"test_a.py::test_b"}))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_in_a_sabotaged_file_the_same_tests_fail(tmp_path: Path, seed: int) -> None:
    file = FRAMEWORK.sabotaged("test_a.py", SOURCE.encode(), random.Random(seed))
    assert file is not None
    ended = run(tmp_path, file.source)
    outcomes.check_decoy(ended.stdout, ended.returncode, file.canaries)
    told = outcomes.read(ended.stdout, ended.returncode, frozenset())
    assert set(told) == {f"test_a.py::{name}" for name in OUTCOMES}
    assert "passed" not in told.values()
    assert file.canaries == {name.partition("[")[0] for name in told}
    ended = run(tmp_path, SOURCE.encode())
    with pytest.raises(outcomes.Forged, match="made to fail"):
        outcomes.check_decoy(ended.stdout, ended.returncode, file.canaries)


@pytest.mark.parametrize("seed", range(6))
def test_a_file_that_is_indented_by_tabs_is_sabotaged_by_tabs(tmp_path: Path, seed: int) -> None:
    source = b"class TestAll:\n\tdef test_a(self):\n\t\tassert 1\n\n\ndef test_b():\n\tassert 1\n"
    file = FRAMEWORK.sabotaged("test_a.py", source, random.Random(seed))
    assert file is not None
    ended = run(tmp_path, file.source)
    outcomes.check_decoy(ended.stdout, ended.returncode, file.canaries)
    told = outcomes.read(ended.stdout, ended.returncode, frozenset())
    assert dict(told) == dict.fromkeys(file.canaries, "failed")


INHERITED = b"""
from base import TestBase, test_elsewhere

def test_a(): pass

def test_b(
    c,
    d=lambda: (
    1)): assert d

class TestMore(TestBase):
    def test_c(self):
        "Text."

class TestBase:
    pass
"""


def test_only_what_was_sabotaged_has_to_fail() -> None:
    file = FRAMEWORK.sabotaged("a.py", INHERITED, random.Random(0))
    assert file is not None
    assert file.canaries == {"a.py::TestMore::test_c"}
    assert FRAMEWORK.sabotaged("a.py", b"def test_a(): pass\n", random.Random(0)) is None


def test_test_files_are_read_by_several_threads_at_once() -> None:
    """Python 3.11 fails where a thread parses while another one does: python/cpython 106905."""

    source = "".join(f"def test_{each}():\n    assert {each} == 1\n\n" for each in range(200))

    def read(_: int) -> TestFile:
        return FRAMEWORK.with_canaries("test_a.py", source.encode(), random.Random(0))

    def give_way(*_: object) -> None:
        time.sleep(0)

    before = gc.get_threshold()
    gc.callbacks.append(give_way)
    gc.set_threshold(5)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert len({file.source for file in pool.map(read, range(40))}) == 1
    finally:
        gc.callbacks.remove(give_way)
        gc.set_threshold(*before)


LOADING = (
    "from .test_graph import TestGraph as _TestGraph",
    "from networkx.classes.tests import test_graph",
    "import tests.test_graph",
    "from test_graph import *",
    "import importlib\nimportlib.import_module('tests.test_graph')",
    "def late():\n    from tests import (\n        other,\n        test_graph,\n    )",
)


@pytest.mark.parametrize("source", LOADING)
def test_it_is_known_which_files_a_file_loads(source: str) -> None:
    assert "test_graph" in FRAMEWORK.loads(source.encode())
    assert "test_graph" not in FRAMEWORK.loads(b"test_graph = 'test_graph'")


@pytest.mark.parametrize("seed", range(30))
def test_a_file_ends_as_it_did(seed: int) -> None:
    """Pygments has a test that reads its own source, and minds empty lines at its end."""
    source = b"def test_one():\n    assert True\n"
    laid = FRAMEWORK.with_canaries("tests/test_one.py", source, random.Random(seed)).source
    assert laid.endswith(b"\n")
    assert not laid.endswith(b"\n\n")
