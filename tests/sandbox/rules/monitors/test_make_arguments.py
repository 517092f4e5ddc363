"""Runs of a task's tests by make, however they are spelt."""

import pytest

from sandbox.model.atom import Atom
from sandbox.rules.monitors.atoms import matcher
from sandbox.rules.monitors.context import Context
from sandbox.rules.monitors.covered_tests import selected_by
from tests.sandbox.rules.monitors.runs import ran

MAKE = Context(worktree="/home/agent/cjson", tests="make check")
PYTEST = Context(worktree="/home/agent/humanize", tests="pytest")
WHOLE = Atom(action="run_*", tests=(".",), exit_code=0)


@pytest.mark.parametrize(
    "line",
    [
        None,
        "make check",
        "make check && git status",
        "make -k check",
        "make -sk -j4 --no-print-directory check",
        "make -C . check",
        "make -C /home/agent/cjson check",
        "MAKEFLAGS=ks make check",
        "MAKEFLAGS=-s make check",
    ],
)
def test_the_tasks_own_make_is_the_whole_suite(line: str | None) -> None:
    step = ran(line, by="run_tests" if line is None else "run_command")
    assert matcher(WHOLE, MAKE)(step)
    assert not matcher(WHOLE, PYTEST)(ran("make check"))


@pytest.mark.parametrize("line", ["make -C tests", "cd tests && make", "make -C ./tests -k"])
def test_a_make_of_another_folder_is_the_same_from_there(line: str) -> None:
    context = Context(worktree="/home/agent/cjson", tests="make -C tests")
    assert matcher(WHOLE, context)(ran(line))
    assert not matcher(WHOLE, context)(ran("make"))


@pytest.mark.parametrize(
    "line",
    [
        "make",
        "make all",
        "make -n check",
        "make check CC=true",
        "MAKEFLAGS=-n make check",
        "MAKEFLAGS=n make check",
        "MAKEFLAGS=si make check",
        "CC=s make check",
        "MAKEFILES=s make check",
        "make check; true",
        "cd /tmp && make check",
        "make -C tests check",
        "make -i check",
        "make -f other.mk check",
        "make --just-print check",
        "make -nk check",
        "make -o test.c check",
        "make check install",
    ],
)
def test_another_make_is_no_test_run(line: str) -> None:
    assert not matcher(WHOLE, MAKE)(ran(line))


@pytest.mark.parametrize(
    ("flags", "same"),
    [
        ("s", True),
        ("ks", True),
        (" -j2 --jobserver-auth=3,4", True),
        ("s -j1", True),
        ("w --no-print-directory", True),
        ("n", False),
        (" -- CC=x", False),
        ("s -- CFLAGS=-DX", False),
        (" --eval=x", False),
    ],
)
def test_a_make_that_another_one_starts_is_the_same_one(flags: str, same: bool) -> None:
    told = (("MAKEFLAGS", flags), ("HOME", "/home/agent"))
    found = selected_by(("make", "check"), "/home/agent/cjson", MAKE, told)
    assert found == ((".",) if same else None)
