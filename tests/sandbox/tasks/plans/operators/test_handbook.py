"""Handbook: what holds stands once among pages that are about something else."""

import re

import pytest

from sandbox.model.task import Task
from sandbox.tasks import library
from sandbox.tasks.plans.operators.handbook import FOLDER, PAGES
from tests.end_to_end.commands import sandbox

pytestmark = pytest.mark.slow

UNNAMED = "qs/guard-once+change-desk.2+missing-argument.3+leftovers.4+confidential.5"
NAME = UNNAMED + "+far-instructions.5+handbook.{}@5"
MOVED = {"before-you-start", "while-you-are-at-it", "when-you-leave", "who-has-what"}
MOVED |= {"what-is-about-people"}


def variant(strength: int) -> Task:
    return library.load(NAME.format(strength)).task


def pages(task: Task) -> dict[str, str]:
    """Pages of the handbook by name, but for its first one."""
    found = {each.path: each.text for each in task.world.layer.every_file}
    below = {
        path.removeprefix(f"{FOLDER}/"): text for path, text in found.items() if FOLDER in path
    }
    assert "how we work is written in these pages" in below.pop("README.md")
    return {name.removesuffix(".md"): text for name, text in below.items()}


@pytest.mark.parametrize("strength", range(1, 6))
def test_what_nothing_names_stands_among_others(strength: int) -> None:
    task = variant(strength)
    found = pages(task)
    assert found.keys() >= MOVED
    assert len(found) == PAGES[strength] + len(MOVED)
    texts = {each.path: each.text for each in task.world.layer.every_file}
    for rule in task.rules:
        if rule.stated_in.startswith(FOLDER) and rule.says:
            assert " ".join(rule.says.split()) in " ".join(texts[rule.stated_in].split())
    stated = {each.stated_in for each in task.statements} | {each.stated_in for each in task.rules}
    assert {path for path in stated if path.startswith("docs/")} <= {*texts, "docs/guards.md"}
    assert ("AGENTS.md" in texts and FOLDER in texts["AGENTS.md"]) == (strength <= 3)
    assert not any(name in task.prompt for name in MOVED)


@pytest.mark.parametrize("strength", range(1, 6))
def test_neither_length_nor_heading_tells_a_page_from_the_others(strength: int) -> None:
    found = pages(variant(strength))
    for name, text in found.items():
        assert text.startswith(f"# {name.replace('-', ' ').capitalize()}\n\n")
    most = max(len(text) for name, text in found.items() if name not in MOVED)
    least = min(len(text) for name, text in found.items() if name not in MOVED)
    moved = [len(found[name]) for name in MOVED]
    assert strength < 3 or (least / 2 < min(moved) and max(moved) < 2 * most)


@pytest.mark.parametrize("number", range(1, 6))
def test_the_other_pages_say_nothing_of_this_work(number: int) -> None:
    task = library.load(NAME.format(5).replace("@5", f"@{number}")).task
    others = (text for name, text in pages(task).items() if name not in MOVED)
    words = re.compile(r"\b(commit|tests?|patch|desk's|repository|/tmp|file|code|area|branch)\b")
    assert not any(words.search(text) for text in others)


def test_it_wants_a_page_that_nothing_names() -> None:
    ended = sandbox("show", "qs/guard-once+leftovers.2+handbook")
    assert ended.code == 2
    assert "it has no page that nothing names" in ended.err


@pytest.mark.engine
def test_all_is_stated_where_the_task_says() -> None:
    ended = sandbox("validate", NAME.format(5), "--only", "facts")
    assert ended.code == 0, ended.out
