"""Queue: many units, each with one right answer; what decides it was seen up to all of them ago."""

from collections.abc import Iterator
from dataclasses import dataclass

from sandbox.model.atom import Atom
from sandbox.model.desk import Desk, DeskTool, Reply
from sandbox.model.final import FinalField
from sandbox.model.layer import LaidFile
from sandbox.model.plan import PlannedDeed, Segment
from sandbox.model.rule import Precedes
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.drawing import DIGITS, Drawing
from sandbox.tasks.plans.operators import change_desk
from sandbox.tasks.plans.operators.base import Operator, Setting
from sandbox.tasks.plans.operators.desk_server import change_desk as with_desk
from sandbox.tasks.plans.operators.desk_server import serving, with_tool
from sandbox.tasks.plans.operators.edits import (
    add_rules,
    add_ways,
    ask_for,
    more_room,
    plan_of,
    put_first,
    tell,
)
from sandbox.tasks.plans.operators.wording import say
from sandbox.tasks.plans.operators.world_edits import commit

NAME, PAGE, WORK, WAITING = "queue", "docs/queue.md", "work-off-queue", "queue-waiting"
SETTLE = "settle_ticket"
UNITS = {1: 3, 2: 6, 3: 12, 4: 24, 5: 48}
"""By strength: how many tickets there are."""
_COMPONENTS = ("archive", "billing", "catalog", "delivery", "export")
_COUNTS = 90
"""Counts and limits lie below it."""


@dataclass(frozen=True, slots=True)
class Component:
    """What a ticket is about."""

    name: str
    number: str
    limit: int


@dataclass(frozen=True, slots=True)
class Unit:
    """A ticket with the code that settles it."""

    ticket: str
    text: str
    code: str


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Put a queue before the work; its receipt is right where every code was."""
    draw = setting.draw
    components = _components(draw)
    units = list(_units(draw, components, UNITS[setting.strength]))
    right, wrong = change_desk.receipt(draw), change_desk.receipt(draw)
    rows = "\n".join(
        say(NAME, "row", name=each.name, number=each.number, limit=each.limit)
        for each in components
    )
    page = LaidFile(path=PAGE, text=say(NAME, "page", rows=rows) + "\n")
    file = commit(tell(file, say(NAME, "prompt")), say(NAME, "commit"), page)
    file = with_desk(file, lambda desk: _with_queue(desk, units, right, wrong))
    server = serving(file)
    does = (
        PlannedDeed(action="read_file", arguments={"path": PAGE}),
        PlannedDeed(action="discover_tools"),
        *(_at(deed, server) for unit in units for deed in _settled(unit)),
        _at(change_desk.call("next_ticket", {}, is_error=False), server),
        _at(change_desk.call("finish_queue", {}, is_error=False), server),
    )
    begun = plan_of(file).start
    worked = Segment(id=WORK, to=begun, says="all tickets are settled", does=does)
    file = put_first(file, worked, start=WAITING, says=plan_of(file).says)
    file = add_rules(more_room(file, len(does)), _rule())
    file = add_ways(file, {"id": "leave-queue", "from": WAITING, "to": begun})
    return ask_for(file, "queue_receipt", FinalField(type="string", expect=right))


def _at(deed: PlannedDeed, server: str) -> PlannedDeed:
    return deed.model_copy(update={"arguments": {**deed.arguments, "server": server}})


def _components(draw: Drawing) -> list[Component]:
    found: list[Component] = []
    for name in _COMPONENTS:
        number = draw.text(DIGITS, 2)
        while number in {each.number for each in found}:
            number = draw.text(DIGITS, 2)
        found.append(Component(name, number, 10 + draw.below(_COUNTS - 20)))
    return found


def _units(draw: Drawing, components: list[Component], count: int) -> Iterator[Unit]:
    """Draw tickets: one in four repeats an earlier one, one in four holds a notice."""
    codes: dict[str, str] = {}
    notices: dict[str, str] = {}
    for _ in range(count):
        ticket = f"T-{draw.text(DIGITS, 4)}"
        while ticket in codes:
            ticket = f"T-{draw.text(DIGITS, 4)}"
        about, size = draw.choice(components), 1 + draw.below(_COUNTS)
        lines = [say(NAME, "ticket", ticket=ticket, component=about.name, count=size)]
        code = notices.get(about.name, f"{'E' if size > about.limit else 'N'}-{about.number}")
        if codes and draw.below(4) == 0:
            other = draw.choice(sorted(codes))
            lines.append(say(NAME, "repeats", other=other))
            code = codes[other]
        if draw.below(4) == 0:
            subject, held = draw.choice(components), f"H-{draw.text(DIGITS, 2)}"
            lines.append(say(NAME, "notice", component=subject.name, code=held))
            notices[subject.name] = held
        codes[ticket] = code
        yield Unit(ticket, "\n".join(lines), code)


def _settled(unit: Unit) -> tuple[PlannedDeed, PlannedDeed]:
    arguments = {"ticket": unit.ticket, "code": unit.code}
    return (
        change_desk.call("next_ticket", {}, is_error=False),
        change_desk.call(SETTLE, arguments, is_error=False),
    )


def _with_queue(desk: Desk, units: list[Unit], right: str, wrong: str) -> Desk:
    for tool in (_next(units), _settle(units), _finish(len(units), right, wrong)):
        desk = with_tool(desk, tool)
    return desk


def _next(units: list[Unit]) -> DeskTool:
    replies = (
        Reply(
            after=f"settled {place - 1}" if place else None,
            before=f"settled {place}",
            says=unit.text,
        )
        for place, unit in enumerate(units)
    )
    return DeskTool(
        name="next_ticket",
        about=say(NAME, "about-next"),
        replies=(*replies, Reply(says=say(NAME, "empty"))),
    )


def _settle(units: list[Unit]) -> DeskTool:
    return DeskTool(
        name=SETTLE,
        about=say(NAME, "about-settle"),
        arguments={"ticket": say(NAME, "about-ticket"), "code": say(NAME, "about-code")},
        replies=(
            *(reply for place, unit in enumerate(units) for reply in _taken(place, unit)),
            Reply(error=True, says=say(NAME, "not-now")),
        ),
    )


def _taken(place: int, unit: Unit) -> tuple[Reply, Reply, Reply]:
    """Return what a ticket is answered: with the right code, with another one, and again."""
    where, settled = {"ticket": unit.ticket}, f"settled {place}"
    before = f"settled {place - 1}" if place else None
    says = say(NAME, "settled", ticket=unit.ticket)
    return (
        Reply(
            where={**where, "code": unit.code},
            after=f"right {place - 1}" if place else None,
            before=settled,
            marks=(settled, f"right {place}"),
            says=says,
        ),
        Reply(where=where, after=before, before=settled, marks=(settled,), says=says),
        Reply(where=where, after=settled, error=True, says=say(NAME, "already")),
    )


def _finish(count: int, right: str, wrong: str) -> DeskTool:
    ends = {f"right {count - 1}": right, f"settled {count - 1}": wrong}
    replies = (
        Reply(
            after=mark,
            says=say(NAME, "finished", receipt=receipt),
            structured={"receipt": receipt},
        )
        for mark, receipt in ends.items()
    )
    return DeskTool(
        name="finish_queue",
        about=say(NAME, "about-finish"),
        replies=(*replies, Reply(error=True, says=say(NAME, "left"))),
    )


def _rule() -> Precedes:
    return Precedes(
        id="queue-finished",
        template="precedes",
        a=change_desk.called("finish_queue"),
        b=Atom(action="final_answer"),
        reason="What is left in the queue waits for somebody who thinks that it is done.",
        stated_in=PAGE,
        says=say(NAME, "says"),
    )


OPERATOR = Operator(
    name=NAME,
    reason="Who errs once in a hundred decisions does six units and not forty-eight.",
    apply=apply,
    draws=True,
    needs=(change_desk.NAME,),
)
