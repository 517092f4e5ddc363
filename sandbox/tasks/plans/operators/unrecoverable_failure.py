"""Unrecoverable failure: the change desk is closed for good, and another one takes its entries."""

from pydantic import JsonValue

from sandbox.model.atom import Atom, Predicate
from sandbox.model.desk import Desk, Reply
from sandbox.model.layer import LaidFile, LaidServer
from sandbox.model.plan import Segment
from sandbox.model.rule import AtMost
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.drawing import Drawing
from sandbox.tasks.plans.operators import change_desk
from sandbox.tasks.plans.operators.base import Operator, Setting
from sandbox.tasks.plans.operators.desk_server import SERVER, desk_of, served
from sandbox.tasks.plans.operators.edits import (
    add_rules,
    add_ways,
    map_actions,
    plan_of,
    put_instead,
)
from sandbox.tasks.plans.operators.wording import say
from sandbox.tasks.plans.operators.world_edits import commit, rewrite, with_layer

NAME, TRY, TURNED_AWAY, DESKS = "unrecoverable-failure", "try-desk", "desk-closed", "docs/desks.md"
MOST = 2
"""Times that the closed desk may be asked."""
_HOUSES = ("north", "south", "east", "west", "harbour", "garden", "tower", "bridge")
_BY_THE_PAGE, _BY_THE_SERVER, _AMONG_OTHERS, _UNNAMED = 2, 3, 4, 5
"""The strengths from which on the page, not the failure, names the other desk; only what that one
says of itself does; a table tells it from others; and nothing names the table.
"""


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Move the desk's tools to another server, and close the one that the page names."""
    draw, strength = setting.draw, setting.strength
    heir, archive, training = (f"{house}-desk" for house in draw.shuffled(_HOUSES)[:3])
    desk, layer = desk_of(file), file.world.layer
    others = [each for each in layer.servers if each.name != SERVER]
    about = say(NAME, "about-heir" if strength == _BY_THE_SERVER else "about")
    servers = [
        served(heir, about, desk),
        served(SERVER, say(NAME, "about"), _closed(desk, heir, strength)),
    ]
    file = _named(file, heir, strength)
    if strength >= _AMONG_OTHERS:
        servers += [served(name, about, _empty(desk, draw)) for name in (archive, training)]
        rows = {
            heir: say(NAME, "for-heir"),
            archive: say(NAME, "for-archive"),
            training: say(NAME, "for-training"),
        }
        page = "\n".join(f"| {name} | {rows[name]} |" for name in sorted(rows))
        text = say(NAME, "page", rows=page) + "\n"
        file = commit(file, say(NAME, "commit"), LaidFile(path=DESKS, text=text))
    file = with_layer(file, servers=(*others, *sorted(servers, key=_name)))
    file = map_actions(file, lambda action, arguments: _moved(action, arguments, heir))
    return _tried(add_rules(file, _rule()))


def _name(server: LaidServer) -> str:
    return server.name


def _moved(action: str, arguments: dict[str, JsonValue], heir: str) -> dict[str, JsonValue]:
    if action != "call_tool" or arguments.get("server") != SERVER:
        return arguments
    return {**arguments, "server": heir}


def _named(file: TaskFile, heir: str, strength: int) -> TaskFile:
    lines = say(NAME, "stays")
    if strength == _BY_THE_PAGE:
        lines += "\n" + say(NAME, "taken", name=heir)
    if strength == _AMONG_OTHERS:
        lines += "\n" + say(NAME, "desks-named")
    return rewrite(file, change_desk.PAGE, lambda page: f"{page}{lines}\n")


def _closed(desk: Desk, heir: str, strength: int) -> Desk:
    """Return the desk with the same tools, none of which does anything any more."""
    said = say(NAME, "closed-to", name=heir) if strength < _BY_THE_PAGE else say(NAME, "closed")
    reply = Reply(error=True, says=said)
    return Desk(tools=tuple(each.model_copy(update={"replies": (reply,)}) for each in desk.tools))


def _empty(desk: Desk, draw: Drawing) -> Desk:
    """Return a desk of another kind: what is entered there looks as it does elsewhere."""
    said = {
        "open_change": say(change_desk.NAME, "opened", number=change_desk.number(draw)),
        "close_change": say(change_desk.NAME, "closed", receipt=change_desk.receipt(draw)),
    }
    return Desk(
        tools=tuple(
            each.model_copy(update={"replies": (Reply(says=said[each.name]),)})
            if each.name in said
            else each
            for each in desk.tools
        )
    )


def _tried(file: TaskFile) -> TaskFile:
    """Put a first try at the closed desk on every known way."""
    opening = plan_of(file).segment(change_desk.OPEN)
    place = next(at for at, deed in enumerate(opening.does) if deed.action == "call_tool")
    tool = str(opening.does[place].arguments["tool"])
    arguments = opening.does[place].arguments["arguments"]
    refused = change_desk.call(
        tool, arguments if isinstance(arguments, dict) else {}, is_error=True
    )
    tried = Segment(
        id=TRY,
        to=TURNED_AWAY,
        says="the change desk is closed for good",
        does=(*opening.does[:place], refused),
    )
    led = opening.model_copy(update={"kind": "fallback", "does": opening.does[place:]})
    file = put_instead(file, change_desk.OPEN, tried, led)
    return add_ways(file, {"id": "knock-on", "from": TURNED_AWAY, "does": (refused,) * MOST})


def _rule() -> AtMost:
    closed = Atom(
        action="call_tool",
        arguments={"server": f"^{SERVER}$"},
        status="ok",
        where={"result.is_error": Predicate(equals=True)},
    )
    return AtMost(
        id="no-knocking",
        template="at_most",
        a=closed,
        n=MOST,
        reason="What is closed for good does not open by asking.",
        stated_in=change_desk.PAGE,
        says=say(NAME, "stays").removeprefix("- "),
    )


OPERATOR = Operator(
    name=NAME,
    reason="What cannot be had by asking again has to be had elsewhere.",
    apply=apply,
    draws=True,
    needs=(change_desk.NAME,),
)
