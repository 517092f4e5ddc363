"""Answers of traps: the right one but for a field."""

from pydantic import JsonValue

from sandbox.model.action import FinalAnswer
from sandbox.model.plan import PlannedDeed, Segment, Way
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.operators.edits import change_way, plan_of

NOT_KNOWN = "not known"
"""What an answer says in a field whose value its run has not come by."""


def answering(
    does: tuple[PlannedDeed, ...], field: str, value: JsonValue
) -> tuple[PlannedDeed, ...]:
    """Return an answer's deeds with another value in a field of it."""
    return tuple(_with_field(deed, field, value) for deed in does)


def not_known(file: TaskFile, field: str, *, but: str) -> TaskFile:
    """Have each way that answers from elsewhere than a state not know what a field is there."""
    answer = plan_of(file).segments[-1]
    for way in plan_of(file).ways:
        origins = (way.origin,) if isinstance(way.origin, str) else way.origin
        if but not in origins and (way.like == answer.id or _answers(way)):
            file = change_way(file, way.id, **_ignorant(way, answer, field))
    return file


def _answers(way: Way) -> bool:
    return any(deed.action == FinalAnswer.name for deed in (*way.does, *way.instead.values()))


def _ignorant(way: Way, answer: Segment, field: str) -> dict[str, object]:
    """Give the parts of a way that are others where it does not know a field."""
    if way.like is None:
        return {"does": answering(way.does, field, NOT_KNOWN)}
    instead = {
        label: answering((deed,), field, NOT_KNOWN)[0] for label, deed in way.instead.items()
    }
    if way.like != answer.id or instead or way.without:
        return {"instead": instead}
    return {
        "like": None,
        "does": answering(answer.does, field, NOT_KNOWN),
        "to": way.to or answer.to,
        "ends": way.ends or answer.ends,
        "sets": {**answer.sets, **way.sets},
        "milestone": way.milestone or answer.milestone,
    }


def _with_field(deed: PlannedDeed, field: str, value: JsonValue) -> PlannedDeed:
    fields = deed.arguments.get("fields")
    if deed.action != FinalAnswer.name or not isinstance(fields, dict):
        return deed.model_copy(update={"label": None})
    known = {**deed.arguments, "fields": {**fields, field: value}}
    return deed.model_copy(update={"label": None, "arguments": known})
