"""Far instructions: how to work leaves the prompt for where a careful engineer looks."""

import re
from collections.abc import Mapping

from sandbox.model.layer import LaidFile
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.operators.base import Operator, Setting, UnfitError
from sandbox.tasks.plans.operators.edits import with_parts
from sandbox.tasks.plans.operators.moved_words import folded, restated
from sandbox.tasks.plans.operators.wording import say
from sandbox.tasks.plans.operators.world_edits import commit

NAME = "far-instructions"
AGENTS, WORKING, CONTRIBUTING = "AGENTS.md", "docs/working.md", "docs/contributing.md"
HEADING = "How to work here:\n"
_ALL, _NAMED, _UNNAMED, _SPREAD = 2, 3, 4, 5
"""The strengths from which on all that can leaves the prompt; it goes into a page that AGENTS.md
names; that nothing names; and into several of these.
"""
_BULLET = re.compile(r"^- .*\n(?:  .*\n)*", re.MULTILINE)
_PERSONAL = re.compile(r"\b(?:I|me|my|mine)\b|\b[A-Z]{3}-\d+|AGENTS\.md")
"""What is about the user, the ticket, or where instructions are: that stays in the prompt."""


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Move instructions, and with them where all that they tell is stated."""
    bullets = _movable(file)
    if setting.strength < _ALL:
        bullets = bullets[-1:]
    places = {bullet: _place(number, setting.strength) for number, bullet in enumerate(bullets)}
    prompt = file.prompt
    for bullet in bullets:
        prompt = prompt.replace(bullet, "", 1)
    prompt = prompt.replace(f"{HEADING}\n", "", 1)  # where nothing stands below it any more
    file = restated(with_parts(file, prompt=prompt), places)
    return commit(file, say(NAME, "commit"), *_pages(places, setting.strength))


def _movable(file: TaskFile) -> list[str]:
    """Return the instructions that state something and are not about the user or the ticket."""
    section = file.prompt.partition(HEADING)[2].partition("\n\n")[0] + "\n"
    said = [folded(each.says) for each in file.statements if each.stated_in == "prompt"]
    said += [folded(rule.says) for rule in file.rules if rule.says and rule.stated_in == "prompt"]
    bullets = [
        bullet
        for bullet in _BULLET.findall(section)
        if not _PERSONAL.search(bullet) and any(each in folded(bullet) for each in said)
    ]
    if not bullets:
        raise UnfitError("its prompt has no instructions that could stand elsewhere")
    return bullets


def _place(number: int, strength: int) -> str:
    if strength < _NAMED:
        return AGENTS
    if strength < _UNNAMED:
        return WORKING
    return (CONTRIBUTING, WORKING)[number % 2] if strength >= _SPREAD else CONTRIBUTING


def _pages(places: Mapping[str, str], strength: int) -> list[LaidFile]:
    pages: dict[str, str] = {}
    for bullet, place in places.items():
        pages[place] = pages.get(place, "") + bullet
    found = [
        LaidFile(path=place, text=f"\n{text}", append=True)
        if place == AGENTS
        else LaidFile(path=place, text=f"{say(NAME, 'heading')}\n\n{text}")
        for place, text in pages.items()
    ]
    if strength == _NAMED:
        found.append(LaidFile(path=AGENTS, text=f"\n{say(NAME, 'named')}\n", append=True))
    return found


OPERATOR = Operator(
    name=NAME,
    reason="Who works in a repository has to find out how work is done there.",
    apply=apply,
)
