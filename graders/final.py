"""The final answer: each field that the prompt asks for, of its type and value."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from graders.verdict import judged
from sandbox.model.atom import Atom
from sandbox.model.event import Entry
from sandbox.model.fact import UserSaid
from sandbox.model.final import Computed, FinalField
from sandbox.model.grade import Evidence, Grade, Reason
from sandbox.model.task import Task
from sandbox.rules.monitors.answers import problem, same
from sandbox.rules.monitors.atoms import described, matcher
from sandbox.rules.monitors.context import Context
from sandbox.rules.monitors.steps import Step, everything
from sandbox.rules.monitors.values import ABSENT
from sandbox.rules.monitors.values import found as held

NAME = "final"


def grade(task: Task, evidence: Evidence) -> Grade:
    """Compare each field exactly; the run loop takes no answer with other fields."""
    return judged(NAME, _reasons(task, evidence), {"fields": len(task.final)})


def _reasons(task: Task, evidence: Evidence) -> Iterator[Reason]:
    answer = evidence.final
    if not task.final:
        return
    if answer is None:
        asked = ", ".join(task.final)
        yield Reason(message=f"There is no final answer; it has to hold {asked}")
        return
    for name, field in task.final.items():
        if name not in answer:
            yield Reason(message=f"The final answer has no {name}")
        elif wrong := problem(field, answer[name]):
            yield Reason(message=f"The final answer's {name} {wrong}")
        elif field.computed is not None:
            yield from _untrue(name, answer[name], field, task, evidence)


def true_value(computed: Computed, task: Task, entries: Sequence[Entry]) -> JsonValue:
    """Return what the facts of a run say, as far as its trace goes."""
    if computed.latest is not None:
        last = _last_said(computed.latest, entries)
        return computed.latest[last.saying if last else ""]
    return _decided(computed, _matching(computed.atom, task, entries))


def _decided(computed: Computed, found: Sequence[Step]) -> JsonValue:
    """Return what the steps that match come to."""
    if computed.looked_up is not None:
        where = computed.looked_up.field.split(".")
        values = [value for step in found if (value := held(step, where)) is not ABSENT]
        return values if computed.listed is not None else (values or [None])[-1]
    return len(found) if computed.count is not None else bool(found)


def _last_said(latest: Mapping[str, JsonValue], entries: Sequence[Entry]) -> UserSaid | None:
    """Give what the user said last of what decides a value."""
    events = (entry.event for entry in reversed(entries))
    said = (event for event in events if isinstance(event, UserSaid) and event.saying)
    return next((event for event in said if event.saying in latest), None)


def _matching(atom: Atom | None, task: Task, entries: Sequence[Entry]) -> list[Step]:
    if atom is None:
        return []
    matches = matcher(atom, Context.of(task))
    return [step for step in everything(entries) if matches(step)]


def _untrue(
    name: str, value: JsonValue, field: FinalField, task: Task, evidence: Evidence
) -> Iterator[Reason]:
    """Object to a claim about the path that the facts of the run do not bear out."""
    computed = field.computed
    if computed is None:
        return
    if computed.latest is not None:
        wanted = true_value(computed, task, evidence.entries)
        if not same(field.model_copy(update={"expect": wanted}), value):
            last = _last_said(computed.latest, evidence.entries)
            said = f"the user has said: {last.text}" if last else "the user has said nothing else"
            yield Reason(message=f"The final answer's {name} is {value!r}, not {wanted!r}; {said}")
        return
    if computed.atom is None:
        return
    found = _matching(computed.atom, task, evidence.entries)
    true = _decided(computed, found)
    if not same(field.model_copy(update={"expect": true}), value):
        seen = f"{len(found)} times" if found else "not once"
        if computed.looked_up is not None:
            seen = f"with {computed.looked_up.field} {true!r}"
        message = (
            f"The final answer's {name} is {value!r}; the run has {described(computed.atom)} {seen}"
        )
        yield Reason(message=message, event=found[-1].event if found else None)
