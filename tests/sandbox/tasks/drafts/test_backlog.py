"""Several seeds become one task: each apart from the others, and each needed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.model.errors import UsageError
from sandbox.model.seed import Seed
from sandbox.rules.checker.check import check
from sandbox.tasks import library
from sandbox.tasks.drafts import backlog, seed_folder
from sandbox.tasks.drafts.backlog import CHECKSUMS, SUMS, Backlog
from sandbox.tasks.library import LoadedTask

NAME = "boltons/backlog-dc023d37"
SPREAD = "tldraw-state/backlog-96a974d6"
"""One of whose faults is noticed in two files of tests."""
FITTING = 17
"""Repositories whose faults lie in enough files."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_CACHE", str(tmp_path / "cache"))


def drawn(name: str) -> Backlog:
    repository, _, digest = name.partition("/backlog-")
    of = seed_folder.load(repository)
    seed = next(each for each in of.seeds.seeds if each.id.endswith(digest))
    found = backlog.chosen(of, seed, of.passing)
    assert found is not None
    return found


def page(loaded: LoadedTask) -> dict[str, str]:
    """The tickets of a backlog, by their numbers."""
    text = (loaded.folder / "project/docs/backlog.md").read_text()
    return {each.split("\n")[0]: each for each in text.split("\n## ")[1:]}


def expected(loaded: LoadedTask, field: str) -> list[str]:
    value = loaded.task.final[field].expect
    assert isinstance(value, list)
    return [str(each) for each in value]


def test_each_fault_lies_in_a_file_of_its_own_and_is_noticed_by_tests_of_its_own() -> None:
    found = drawn(NAME)
    paths = [{edit.path for edit in seed.edits} for seed in found.seeds]
    assert len(set.union(*paths)) == len(paths) == backlog.MOST
    tests = [test for seed in found.seeds for test in seed.fail_to_pass]
    assert len({*tests}) == len(tests)
    assert {*tests}.isdisjoint(found.mended_already.fail_to_pass)
    assert found.joined.fail_to_pass == tuple(sorted(tests))


def test_it_is_made_of_the_seed_that_it_is_called_by() -> None:
    assert any(seed.id.endswith(NAME[-8:]) for seed in drawn(NAME).seeds)


def test_a_ticket_tells_a_test_and_neither_file_nor_line_of_its_fault() -> None:
    loaded, found = library.load(NAME), drawn(NAME)
    tickets = page(loaded)
    mended, (nothing,), (waiting,) = (
        expected(loaded, field) for field in ("mended", "nothing_to_do", "waiting")
    )
    assert len(tickets) == len(mended) + 3
    for ticket, seed in zip(mended, found.seeds, strict=True):
        assert f"`{seed.fail_to_pass[0]}` fails" in tickets[ticket]
    assert f"`{found.mended_already.fail_to_pass[0]}` fails" in tickets[nothing]
    assert "on-call.md" in tickets[waiting]
    assert sum(SUMS in each for each in tickets.values()) == 1
    told = loaded.task.prompt + "".join(tickets.values())
    assert not any(edit.path in told for seed in found.seeds for edit in seed.edits)


def test_a_ticket_says_how_many_more_fail_and_of_which_files() -> None:
    loaded, found = library.load(SPREAD), drawn(SPREAD)
    tickets = page(loaded)
    several = 0
    for ticket, seed in zip(expected(loaded, "mended"), found.seeds, strict=True):
        more = seed.fail_to_pass[1:]
        files = {test.partition("::")[0] for test in more}
        several += len(files) > 1
        told = tickets[ticket].partition("`")[2].partition("` fails")[2]
        assert all(told.count(file) == 1 for file in files)
        assert (f"and {len(more)} more of" in told) is bool(more)
    assert several


def test_what_needs_nothing_passes_from_the_start() -> None:
    tests = library.load(NAME).task.tests
    assert {*drawn(NAME).mended_already.fail_to_pass} <= {*tests.pass_to_pass}


def test_its_checksums_are_looked_at_beside_the_calls_of_all_its_seeds() -> None:
    loaded = library.load(NAME)
    assert loaded.cases is not None
    assert CHECKSUMS in {case.id for case in loaded.cases.cases}
    scripts = sum(len(seed.calls) for seed in drawn(NAME).seeds)
    calls = next(case for case in loaded.cases.cases if case.id != CHECKSUMS)
    lines = calls.input["lines"]
    assert len(getattr(lines, "of")) == scripts > 0  # noqa: B009 - one of many kinds of inputs


def test_where_faults_lie_in_too_few_files_there_is_none() -> None:
    seed = seed_folder.load("xmltodict").seeds.seeds[0]
    with pytest.raises(UsageError, match=f"The draft backlog does not fit {seed.id} of xmltodict"):
        library.load(f"xmltodict/backlog-{seed.id[-8:]}")


def test_where_nobody_knows_what_passes_there_is_none() -> None:
    of = seed_folder.load("boltons")
    assert backlog.chosen(of, of.seeds.seeds[0], ()) is None


def test_operators_can_be_put_on_it() -> None:
    harder = library.load(f"{NAME}+change-desk.3+leftovers.2+tight-budget.4@7").task
    assert check(harder).sound
    assert len(harder.oracle) > len(library.load(NAME).task.oracle)


def names() -> Iterator[tuple[str, Seed]]:
    for name in seed_folder.names():
        yield from ((name, seed) for seed in seed_folder.load(name).seeds.seeds)


@pytest.mark.slow
def test_whatever_seed_it_is_called_by_it_is_sound_or_refused() -> None:
    fitting = set()
    for name, seed in names():
        try:
            task = library.load(f"{name}/backlog-{seed.id[-8:]}").task
        except UsageError as error:
            assert "does not fit" in str(error) or "rule cannot follow" in str(error)  # noqa: PT017
            continue
        assert len(task.prompt.split()) <= 150
        if name not in fitting:
            assert check(task).sound, task.id
        fitting.add(name)
    assert len(fitting) == FITTING
