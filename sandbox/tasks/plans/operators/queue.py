"""Queue: many units, each with one right answer; what decides it was seen up to all of them ago."""

from collections.abc import Iterator
from functools import reduce

from sandbox.model.atom import Atom
from sandbox.model.desk import DeskTool, Reply
from sandbox.model.final import FinalField
from sandbox.model.layer import LaidFile
from sandbox.model.plan import PlannedDeed, Segment
from sandbox.model.rule import Precedes
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.operators import change_desk, changed_list, tickets
from sandbox.tasks.plans.operators.base import Operator, Setting
from sandbox.tasks.plans.operators.changed_list import Lists
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
from sandbox.tasks.plans.operators.tickets import Unit
from sandbox.tasks.plans.operators.wording import say
from sandbox.tasks.plans.operators.world_edits import commit

NAME, PAGE, WORK, WAITING = "queue", changed_list.PAGE, "work-off-queue", "queue-waiting"
SETTLE = "settle_ticket"
UNITS = {1: 3, 2: 6, 3: 12, 4: 24, 5: 48}
"""By strength: how many tickets there are."""


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Put a queue before the work; its receipt is right where every code was."""
    draw, count = setting.draw, UNITS[setting.strength]
    lists = changed_list.lists(setting.strengths, draw, tickets.components(draw), count)
    units = tickets.units(draw, lists.by_start, count)
    right, wrong = change_desk.receipt(draw), change_desk.receipt(draw)
    rows = tickets.table(lists.by_start[0])
    text = say(NAME, "page", heading=lists.heading, rows=rows) + "\n"
    page = LaidFile(path=PAGE, text=text)
    file = commit(tell(file, say(NAME, "prompt")), say(NAME, "commit"), page)
    tools = (_next(units, lists), _settle(units), _finish(count, right, wrong), *lists.tools())
    file = with_desk(file, lambda desk: reduce(with_tool, tools, desk))
    server = serving(file)
    does = (
        PlannedDeed(action="read_file", arguments={"path": PAGE}),
        PlannedDeed(action="discover_tools"),
        *(
            _at(deed, server)
            for place, unit in enumerate(units)
            for deed in _settled(unit, relisted=place in lists.starts)
        ),
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


def _settled(unit: Unit, *, relisted: bool) -> Iterator[PlannedDeed]:
    """Give how a ticket is taken and settled, with a look at its list where that is new."""
    yield change_desk.call("next_ticket", {}, is_error=False)
    if relisted:
        yield change_desk.call(changed_list.SHOW, {}, is_error=False)
    arguments = {"ticket": unit.ticket, "code": unit.code}
    yield change_desk.call(SETTLE, arguments, is_error=False)


def _next(units: list[Unit], lists: Lists) -> DeskTool:
    replies = (
        Reply(
            after=f"settled {place - 1}" if place else None,
            before=f"settled {place}",
            says=lists.named(place, unit.text),
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
