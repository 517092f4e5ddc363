"""A specification is a task by its name alone."""

import shutil
from pathlib import Path

import pytest

from sandbox.model.errors import UsageError
from sandbox.rules.checker.check import check
from sandbox.tasks import library

NAME = "humanize/clauses-20-1"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SANDBOX_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_it_is_the_same_each_time(cache: Path) -> None:
    first = library.load(NAME)
    shutil.rmtree(cache)
    again = library.load(NAME)
    assert (first.digest, first.task) == (again.digest, again.task)
    assert first.task.id == NAME
    assert check(first.task).sound
    assert len(first.task.prompt.split()) <= 150


def test_each_clause_has_a_case_that_nothing_passes_before() -> None:
    loaded = library.load(NAME)
    cases = loaded.task.tests.cases
    assert cases is not None
    wanted = {f"clause-{number}" for number in range(1, 21)} | {"any-order"}
    assert {*cases.fail_to_pass} == wanted
    assert {each.id for each in loaded.cases.cases} == wanted if loaded.cases else False


def test_it_is_drawn_over_a_repository_under_other_names_too() -> None:
    other = library.load("tovunim/clauses-20-1")
    assert "humanize" not in other.task.model_dump_json()


def test_operators_can_be_put_on_it() -> None:
    plain, harder = library.load(NAME), library.load(f"{NAME}+change-desk.2+queue.2@7")
    assert len(harder.task.oracle) > len(plain.task.oracle)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("humanize/clauses-19-1", "asks for 19 clauses, and a specification has 20 to 60"),
        ("humanize/clauses-61-1", "asks for 61 clauses"),
        ("humanize/clauses-400-1", "asks for 400 clauses"),
        ("minimist/clauses-20-1", "no specifications for minimist"),
        ("xmltodict/clauses-20-1", "no specifications for xmltodict"),
        ("humanize/clauses-20-0", "no task"),
        ("nowhere/clauses-20-1", "no task"),
    ],
)
def test_what_cannot_be_drawn_is_refused(name: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        library.load(name)


def test_nothing_is_left_to_record() -> None:
    with pytest.raises(UsageError, match="is drawn"):
        library.load_to_record(NAME)
