"""Which functions a file's text gives its classes, and when only a run would tell."""

import pytest

from sandbox.tasks import python_tests

SOURCE = """
import unittest
from elsewhere import Mixin, shared as test_shared

test_made = lambda: None

if True:
    def test_below(): ...

class Base(unittest.TestCase):
    def test_first(self): ...

class Derived(Base):
    try:
        def test_second(self): ...
    except ValueError:
        def test_third(self): ...

    class Inner:
        async def test_waits(self): ...

class Mixed(Mixin, Base):
    def test_fourth(self): ...

class Twice(Derived, Mixed): ...

class Made(metaclass=Mixin): ...
"""


def test_bases_of_the_file_are_inherited_and_others_leave_it_open() -> None:
    found = python_tests.by_class(SOURCE)
    module = found[python_tests.MODULE]
    assert module is not None
    assert {"test_below", "test_made", "test_shared"} <= module
    assert "test_first" not in module
    assert found["Base"] == frozenset({"test_first"})
    assert found["Derived"] == frozenset({"test_first", "test_second", "test_third"})
    assert found["Derived::Inner"] == frozenset({"test_waits"})
    assert found["Mixed"] is found["Twice"] is found["Made"] is None


@pytest.mark.parametrize(
    "source",
    [
        "from elsewhere import *\ndef test_one(): ...",
        "@parameterized.expand([1, 2])\ndef test_one(number): ...",
    ],
)
def test_functions_of_names_that_the_text_does_not_have_leave_it_open(source: str) -> None:
    assert python_tests.by_class(source)[python_tests.MODULE] is None


@pytest.mark.parametrize("source", ["def test_(", "\0", "for name in 'ab': exec(f'def {name}()')"])
def test_what_cannot_be_read_tells_nothing(source: str) -> None:
    assert python_tests.by_class(source) == {}


def test_a_test_may_make_what_it_likes() -> None:
    source = "def test_one():\n    exec('a = 1')\n    setattr(object(), 'b', 2)"
    assert python_tests.by_class(source)[python_tests.MODULE] == frozenset({"test_one"})


def test_a_class_that_is_its_own_base_ends() -> None:
    assert python_tests.by_class("class A(B): ...\nclass B(A): ...")["A"] is None
