"""Words that leave the prompt for a file: what they state is stated there then."""

from collections.abc import Mapping

from sandbox.model.rule import Rule
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.operators.edits import with_parts


def restated(file: TaskFile, places: Mapping[str, str]) -> TaskFile:
    """Say of all that some words state where they stand now, which have left the prompt already."""
    statements = tuple(
        each.model_copy(update={"stated_in": where})
        if each.stated_in == "prompt" and (where := _found(each.says, places))
        else each
        for each in file.statements
    )
    file = with_parts(file, statements=statements)
    return with_parts(file, rules=tuple(_moved(file, rule, places) for rule in file.rules))


def folded(text: str) -> str:
    """Put one space for all that stands between words."""
    return " ".join(text.split())


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
    return next((place for bullet, place in places.items() if folded(says) in folded(bullet)), None)
