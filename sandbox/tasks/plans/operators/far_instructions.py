"""Far instructions: how to work leaves the prompt for where a careful engineer looks."""

import re
from collections.abc import Mapping

from sandbox.model.layer import LaidFile
from sandbox.model.rule import Rule
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.operators.base import Operator, Setting, UnfitError
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
    told = {"prompt": prompt, "statements": _restated(file, places)}
    file = file.model_copy(update=told)
    rules = tuple(_moved(file, rule, places) for rule in file.rules)
    pages = _pages(places, setting.strength)
    return commit(file.model_copy(update={"rules": rules}), say(NAME, "commit"), *pages)


def _movable(file: TaskFile) -> list[str]:
    """Return the instructions that state something and are not about the user or the ticket."""
    section = file.prompt.partition(HEADING)[2].partition("\n\n")[0] + "\n"
    said = [_folded(each.says) for each in file.statements if each.stated_in == "prompt"]
    said += [_folded(rule.says) for rule in file.rules if rule.says and rule.stated_in == "prompt"]
    bullets = [
        bullet
        for bullet in _BULLET.findall(section)
        if not _PERSONAL.search(bullet) and any(each in _folded(bullet) for each in said)
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


def _restated(file: TaskFile, places: Mapping[str, str]) -> tuple[object, ...]:
    return tuple(
        each.model_copy(update={"stated_in": where})
        if each.stated_in == "prompt" and (where := _found(each.says, places))
        else each
        for each in file.statements
    )


def _moved(file: TaskFile, rule: Rule, places: Mapping[str, str]) -> Rule:
    """Return a rule that says where it is stated now."""
    if rule.stated_in != "prompt":
        return rule
    if rule.says is not None:
        where = _found(rule.says, places)
        return rule.model_copy(update={"stated_in": where}) if where else rule
    fact = f"rule {rule.id}"
    stated = [each.stated_in for each in file.statements if fact in each.facts]
    if not stated or "prompt" in stated:
        return rule
    return rule.model_copy(update={"stated_in": stated[0]})


def _found(says: str, places: Mapping[str, str]) -> str | None:
    """Return where some words went with an instruction, None where they stay."""
    return next(
        (place for bullet, place in places.items() if _folded(says) in _folded(bullet)), None
    )


def _folded(text: str) -> str:
    return " ".join(text.split())


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
