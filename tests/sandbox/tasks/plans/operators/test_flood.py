"""The journal says what the table said, by the rule that it gives, and nothing shorter does."""

import re

import pytest

from sandbox.tasks import library
from sandbox.tasks.plans.operators import missing_argument

pytestmark = pytest.mark.slow

TASK = "qs/guard-once+change-desk+missing-argument.2"
PATH = "lib/parse.js"
GIVEN = re.compile(r"^- \S+ #(\d+): `(.+)` is given `(.+)`\.$")
WITHDRAWN = re.compile(r"^- \S+ #(\d+): #(\d+) is withdrawn\.$")


def pages(name: str) -> dict[str, str]:
    layer = library.load(name).task.world.layer
    return {each.path: each.text for made in layer.commits for each in made.files}


def holds(journal: str, path: str) -> list[str]:
    """Give what the journal says of a path, the newest first, by its own rule."""
    given, withdraws = dict[str, tuple[str, str]](), dict[str, str]()
    for line in journal.splitlines():
        if found := GIVEN.match(line):
            given[found[1]] = found[2], found[3]
        elif found := WITHDRAWN.match(line):
            withdraws[found[1]] = found[2]

    def counts(number: str) -> bool:
        return not any(other == number and counts(by) for by, other in withdraws.items())

    about = [number for number, (where, _) in given.items() if where == path]
    return [given[number][1] for number in reversed(about) if counts(number)]


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("strength", [1, 2, 3, 4, 5])
def test_what_holds_is_what_the_table_said(strength: int, number: int) -> None:
    table = pages(f"{TASK}@{number}")[missing_argument.TABLE]
    journal = pages(f"{TASK}+flood.{strength}@{number}")[missing_argument.TABLE]
    rows = dict(re.findall(r"^\| (\S+|everything else) \| (\S+) \|$", table, re.MULTILINE))
    rows.pop("path")
    assert {path: holds(journal, path)[0] for path in rows} == rows


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("strength", [3, 4, 5])
def test_the_newest_entry_is_not_the_one_that_holds(strength: int, number: int) -> None:
    journal = pages(f"{TASK}+flood.{strength}@{number}")[missing_argument.TABLE]
    about = [found[3] for line in journal.splitlines() if (found := GIVEN.match(line))
             and found[2] == PATH]  # fmt: skip
    assert about[-1] != holds(journal, PATH)[0]


def test_whoever_looks_only_one_step_further_is_wrong() -> None:
    journal = pages(f"{TASK}+flood.5@1")[missing_argument.TABLE]
    gone = {found[2] for line in journal.splitlines() if (found := WITHDRAWN.match(line))}
    left = [
        found[3]
        for line in journal.splitlines()
        if (found := GIVEN.match(line)) and found[2] == PATH and found[1] not in gone
    ]
    assert left[-1] != holds(journal, PATH)[0]


def test_the_journal_is_too_long_for_one_observation_and_the_output_is_bounded() -> None:
    task = library.load(f"{TASK}+flood.5").task
    journal = pages(f"{TASK}+flood.5")[missing_argument.TABLE]
    assert len(journal) > 4 * task.limits.observation_bytes
    assert task.limits.output_bytes < 2 * len(journal)
    assert f"{task.limits.output_bytes:,} bytes" in task.prompt
