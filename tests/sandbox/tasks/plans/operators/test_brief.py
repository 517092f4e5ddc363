"""The prompt is short, and nothing that it said is lost."""

import pytest

from sandbox.rules.checker.check import check
from sandbox.tasks import library

WORDS = 150
LONG = (
    "networkx/ranked-3a05e61e+change-desk.4+missing-argument.4+stale-record.4+queue.2"
    "+denied-approval.4"
    "+width.4+sealed-letter.4+leftovers.4+change-of-mind.4+account.5+scarcity.3"
)


@pytest.mark.parametrize("name", library.names())
def test_what_leaves_the_prompt_stands_in_the_page(name: str) -> None:
    before, after = library.load(name).task, library.load(f"{name}+brief").task
    (page,) = (each.text for each in after.world.layer.every_file if each.path == "docs/brief.md")
    goal, *paragraphs = before.prompt.strip().split("\n\n")
    assert all(each in page or each in after.prompt for each in paragraphs)
    assert after.prompt.startswith(goal)
    assert all(f"`{field}`" in after.prompt for field in after.final)
    moved = [rule for rule in after.rules if rule.stated_in == "docs/brief.md"]
    assert all(
        rule.says is None or " ".join(rule.says.split()) in " ".join(page.split()) for rule in moved
    )
    assert after.oracle[0].arguments == {"path": "docs/brief.md"}
    assert len(after.oracle) == len(before.oracle) + 1


def test_of_many_operators_it_is_short_all_the_same() -> None:
    long = library.load(f"{LONG}@7").task
    short = library.load(f"{LONG}+brief+tight-output.5+tight-budget.5@7").task
    assert len(long.prompt.split()) > 2 * WORDS
    assert len(short.prompt.split()) <= WORDS
    assert check(short).sound


def test_a_bound_on_what_is_shown_stays_in_the_prompt() -> None:
    flood = "humanize/file-sizes+change-desk.2+missing-argument.3+flood.4"
    before = library.load(f"{flood}@3").task
    bound = f"{before.limits.output_bytes:,} bytes"
    assert bound in before.prompt
    assert bound in library.load(f"{flood}+brief@3").task.prompt
    tighter = library.load(f"{flood}+brief+tight-output.5@3").task
    assert tighter.prompt.count(" bytes;") == 1
    assert bound not in f"{tighter.prompt} {tighter.world.layer.model_dump_json()}"
