"""A foreign task is made apart: what does not hold, or is broken off, leaves nothing behind."""

import errno
from pathlib import Path
from typing import Any, cast

import pytest

from sandbox.model.errors import EngineError, UsageError
from sandbox.model.imported import Imported
from sandbox.run.imports import InstanceImporter
from sandbox.run.imports.workshop import Tried, Workshop
from sandbox.tasks.imports.instances import Instance
from sandbox.tasks.imports.swebench import Options

ABOUT = Imported(instance="till-1", task="till-1/issue", outcome="refused")

MADE_OF = "swebench till-1 00"


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    nothing = cast("Any", None)
    return Workshop(tmp_path / "tasks", nothing, nothing, nothing, nothing, lambda _: None)


def written(folder: Path) -> None:
    (folder / "till-1/issue").mkdir(parents=True)
    (folder / "till-1/issue/task.yaml").write_text("id: till-1/issue\n")


def held(folder: Path) -> Tried:
    written(folder)
    return Tried(notes=("a note",))


def test_what_holds_is_kept(workshop: Workshop) -> None:
    made = workshop.make(ABOUT, MADE_OF, held)
    assert (made.outcome, made.notes) == ("imported", ("a note",))
    assert [each.name for each in workshop.tasks.iterdir()] == ["till-1"]
    assert (workshop.tasks / "till-1/issue/task.yaml").is_file()


def test_what_is_there_is_left_as_it_is(workshop: Workshop) -> None:
    workshop.make(ABOUT, MADE_OF, held)
    made = workshop.make(ABOUT, MADE_OF, lambda _: pytest.fail("it is not to be made"))
    assert made.outcome == "there already"


@pytest.mark.parametrize("other", ["swebench till-1 01", ""])
def test_what_is_there_and_was_made_of_something_else_is_refused(
    workshop: Workshop, other: str
) -> None:
    if other:
        workshop.make(ABOUT, other, held)
    else:
        (workshop.tasks / "till-1").mkdir(parents=True)
    made = workshop.make(ABOUT, MADE_OF, lambda _: pytest.fail("it is not to be made"))
    assert made.outcome == "refused"
    assert "made of something else" in made.problems[0]


@pytest.mark.parametrize(
    "error", [OSError(36, "File name too long"), RecursionError("deep"), ValueError("odd")]
)
def test_data_that_nobody_foresaw_ends_nothing_else(workshop: Workshop, error: Exception) -> None:
    def odd(folder: Path) -> Tried:
        raise error

    made = workshop.make(ABOUT, MADE_OF, odd)
    assert made.outcome == "refused"
    assert made.problems[0].startswith("It cannot be read")


def test_text_that_cannot_be_written_ends_nothing_else(workshop: Workshop) -> None:
    row = {"instance_id": "a__b-1", "repo": "a/b", "base_commit": "0" * 40, "patch": "x"}
    told = {"problem_statement": "half a pair: \ud800", "FAIL_TO_PASS": ["t.py::t"]}
    importer = InstanceImporter(workshop, Options(Path()))
    made = importer.take(Instance.model_validate({**row, **told}))
    assert made.outcome == "refused"
    assert made.problems[0].startswith("It cannot be read")


def test_what_does_not_hold_leaves_nothing(workshop: Workshop) -> None:
    def wrong(folder: Path) -> Tried:
        written(folder)
        return Tried(("it passes without the fix",))

    made = workshop.make(ABOUT, MADE_OF, wrong)
    assert (made.outcome, made.problems) == ("refused", ("it passes without the fix",))
    assert not workshop.tasks.exists()


def test_what_is_wrong_with_it_is_told_and_ends_nothing_else(workshop: Workshop) -> None:
    def broken(folder: Path) -> Tried:
        written(folder)
        raise UsageError("It is broken.", "Mend it.")

    made = workshop.make(ABOUT, MADE_OF, broken)
    assert (made.outcome, made.problems) == ("refused", ("It is broken. Mend it.",))
    assert not workshop.tasks.exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), EngineError("It is gone.")])
def test_what_is_not_its_own_fault_ends_the_import_and_leaves_nothing(
    workshop: Workshop, error: BaseException
) -> None:
    def ended(folder: Path) -> Tried:
        written(folder)
        raise error

    with pytest.raises(type(error)):
        workshop.make(ABOUT, MADE_OF, ended)
    assert not workshop.tasks.exists()


def test_a_full_disk_ends_the_import(workshop: Workshop) -> None:
    def full(folder: Path) -> Tried:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        workshop.make(ABOUT, MADE_OF, full)


def test_what_a_kill_has_left_is_taken_away(workshop: Workshop) -> None:
    (workshop.tasks / ".till-1.part/issue").mkdir(parents=True)
    assert workshop.make(ABOUT, MADE_OF, held).outcome == "imported"
    assert [each.name for each in workshop.tasks.iterdir()] == ["till-1"]


def test_a_place_that_cannot_be_written_is_told(workshop: Workshop) -> None:
    workshop.tasks.write_text("a file is in the way")
    made = workshop.make(ABOUT, MADE_OF, held)
    assert made.outcome == "refused"
    assert "cannot be made" in made.problems[0]
