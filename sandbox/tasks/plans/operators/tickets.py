"""Tickets of a queue: what each says, and the code that settles it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sandbox.tasks.plans.drawing import DIGITS, Drawing
from sandbox.tasks.plans.operators.wording import say

_WORDING = "queue"
_COMPONENTS = ("archive", "billing", "catalog", "delivery", "export")
_COUNTS = 90
"""Counts and limits lie below it."""
_RENUMBERED = 3
"""Components that a later list gives another number."""


@dataclass(frozen=True, slots=True)
class Component:
    """What a ticket is about."""

    name: str
    number: str
    limit: int


Lists = Mapping[int, Sequence[Component]]
"""Lists of the components, each by the place of the first ticket that it holds for, from 0 on."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A ticket with the code that settles it."""

    ticket: str
    component: Component
    """As the list has it that holds for the ticket."""
    text: str
    code: str
    listed: bool
    """Whether the list decides its code, and neither another ticket nor a notice."""


def components(draw: Drawing) -> list[Component]:
    """Draw the first list."""
    numbers = _numbers(draw, len(_COMPONENTS), set())
    return [
        Component(name, number, 10 + draw.below(_COUNTS - 20))
        for name, number in zip(_COMPONENTS, numbers, strict=True)
    ]


def renumbered(draw: Drawing, known: Sequence[Component], taken: set[str]) -> list[Component]:
    """Draw a list in which some have a number that none has had, and all the same limits."""
    chosen = draw.shuffled([each.name for each in known])[:_RENUMBERED]
    numbers = dict(zip(chosen, _numbers(draw, len(chosen), taken), strict=True))
    return [replace(each, number=numbers.get(each.name, each.number)) for each in known]


def units(draw: Drawing, lists: Lists, count: int) -> list[Unit]:
    """Draw tickets until each later list decides the code of one of them."""
    while True:
        drawn = list(_units(draw, lists, count))
        if all(_decides(drawn, lists, start) for start in lists if start):
            return drawn


def held(lists: Lists, place: int) -> Sequence[Component]:
    """Return the list that holds for the ticket at a place."""
    return lists[max(start for start in lists if start <= place)]


def table(known: Sequence[Component]) -> str:
    """Return the rows of a list."""
    return "\n".join(
        say(_WORDING, "row", name=each.name, number=each.number, limit=each.limit) for each in known
    )


def _numbers(draw: Drawing, count: int, taken: set[str]) -> list[str]:
    found: list[str] = []
    while len(found) < count:
        number = draw.text(DIGITS, 2)
        if number not in {*found, *taken}:
            found.append(number)
    return found


def _decides(drawn: list[Unit], lists: Lists, start: int) -> bool:
    end = min((other for other in lists if other > start), default=len(drawn))
    before = {each.name: each.number for each in held(lists, start - 1)}
    return any(
        unit.listed and unit.component.number != before[unit.component.name]
        for unit in drawn[start:end]
    )


def _units(draw: Drawing, lists: Lists, count: int) -> Iterator[Unit]:
    """Draw tickets: one in four repeats an earlier one, one in four holds a notice."""
    codes: dict[str, str] = {}
    notices: dict[str, str] = {}
    for place in range(count):
        known = held(lists, place)
        ticket = f"T-{draw.text(DIGITS, 4)}"
        while ticket in codes:
            ticket = f"T-{draw.text(DIGITS, 4)}"
        about, size = draw.choice(known), 1 + draw.below(_COUNTS)
        lines = [say(_WORDING, "ticket", ticket=ticket, component=about.name, count=size)]
        own = f"{'E' if size > about.limit else 'N'}-{about.number}"
        code, listed = notices.get(about.name, own), about.name not in notices
        if codes and draw.below(4) == 0:
            other = draw.choice(sorted(codes))
            lines.append(say(_WORDING, "repeats", other=other))
            code, listed = codes[other], False
        if draw.below(4) == 0:
            subject, instead = draw.choice(known), f"H-{draw.text(DIGITS, 2)}"
            lines.append(say(_WORDING, "notice", component=subject.name, code=instead))
            notices[subject.name] = instead
        codes[ticket] = code
        yield Unit(ticket, about, "\n".join(lines), code, listed)
