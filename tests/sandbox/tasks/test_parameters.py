"""The ids that a file's text tells, beside those that pytest itself gives."""

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.tasks import parameters

SOURCE = """
import pytest

@pytest.mark.parametrize(
    "a",
    [1, -2, 1.5, 1e9, "x y", "é\\n", None, True, b"q\\xff\\n\\0", (1, 2), [3], {}, "", "a\\\\b"],
)
def test_kinds(a): ...

@pytest.mark.parametrize("a, b", [(1, "x"), ["k", {}]])
@pytest.mark.parametrize(("c",), [(1,), ((2, 3),)])
def test_stacked(a, b, c): ...

WORDS = [("a", "b"), ("c", [10**6])]

@pytest.mark.parametrize(("a", "b"), WORDS)
def test_constant(a, b): ...

@pytest.mark.parametrize("a", [1, (2,), "z"], ids=["one", "é", "three"])
def test_names(a): ...

@pytest.mark.parametrize("a, b", [pytest.param(1, 2, id="both"), pytest.param(3, [4]), (5, 6)])
def test_param(a, b): ...

class TestClass:
    @pytest.mark.parametrize("a", ["one", "two"])
    @pytest.mark.skipif(False, reason="none")
    def test_method(self, a): ...

class TestOther:
    @pytest.mark.parametrize("a", ["three"])
    def test_method(self, a): ...
"""
UNREADABLE = """
import pytest

@pytest.fixture(params=[1, 2])
def doubled(): ...

@pytest.mark.parametrize("a", [1])
def test_fixture(a, doubled): ...

@pytest.mark.parametrize("a", [1], ids=str)
def test_names(a): ...

CHANGED = [1]
CHANGED.append(2)

@pytest.mark.parametrize("a", CHANGED)
def test_changed(a): ...

@pytest.mark.parametrize("a", [*CHANGED])
def test_starred(a): ...

@pytest.mark.parametrize("a", range(3))
def test_computed(a): ...

@pytest.mark.parametrize("a", [1], indirect=True)
def test_indirect(a): ...

@pytest.mark.parametrize("a", [10**6])
def test_power(a): ...

@pytest.mark.parametrize("a", ["%s"])
def test_long(a): ...

@pytest.mark.parametrize("b", [1])
class TestClass:
    @pytest.mark.parametrize("a", [1])
    def test_below(self, a, b): ...

def test_plain(): ...
""".replace("%s", "long" * 26)


@pytest.mark.slow
def test_they_are_those_of_pytest(tmp_path: Path) -> None:
    (tmp_path / "test_ids.py").write_text(SOURCE)
    listed = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    given: dict[str, set[str]] = {}
    for line in listed.stdout.splitlines():
        if line.endswith("]"):
            function, _, rest = line.partition("::")[2].partition("[")
            given.setdefault(function, set()).add(rest.removesuffix("]"))
    assert len(given) == 7
    assert parameters.by_function(SOURCE) == given


def test_what_only_a_run_would_tell_is_left_open() -> None:
    assert parameters.by_function(UNREADABLE) == {}


def test_what_is_not_python_tells_nothing() -> None:
    for text in ("def test_(", "\0", "(" * 5000):
        assert parameters.by_function(text) == {}
