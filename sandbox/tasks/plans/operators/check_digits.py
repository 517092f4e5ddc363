"""Check digits: each code of the queue ends with two that are worked out from a long number."""

from collections.abc import Mapping

from pydantic import JsonValue

from sandbox.model.desk import Desk, Reply
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.drawing import DIGITS
from sandbox.tasks.plans.operators import queue
from sandbox.tasks.plans.operators.base import Operator, Setting
from sandbox.tasks.plans.operators.desk_server import change_desk as with_desk
from sandbox.tasks.plans.operators.desk_server import desk_of, with_tool
from sandbox.tasks.plans.operators.edits import map_actions
from sandbox.tasks.plans.operators.wording import say
from sandbox.tasks.plans.operators.world_edits import rewrite

NAME = "check-digits"
LENGTHS = {1: 4, 2: 6, 3: 9, 4: 12, 5: 18}
"""By strength: how many digits a consignment's number has."""

Numbers = Mapping[str, str]
"""Of consignments, by ticket."""


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Give each ticket a consignment, and each right code the check digits of its number."""
    tickets = [
        reply.where["ticket"]
        for reply in desk_of(file).tool(queue.SETTLE).replies
        if "code" in reply.where
    ]
    length = LENGTHS[setting.strength]
    numbers = {ticket: setting.draw.text(DIGITS, length) for ticket in tickets}
    file = rewrite(file, queue.PAGE, lambda page: f"{page}\n{say(NAME, 'page')}\n")
    file = with_desk(file, lambda desk: _numbered(desk, numbers))

    def checked(_: str, arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
        if arguments.get("tool") != queue.SETTLE:
            return arguments
        given = arguments["arguments"]
        assert isinstance(given, dict)  # noqa: S101 - as the queue has written it
        return {**arguments, "arguments": {**given, "code": _code(given, numbers)}}

    return map_actions(file, checked)


def digits(number: str) -> str:
    """Return the check digits of a number (ISO 7064, MOD 97-10, as IBAN has them)."""
    return f"{98 - int(number) * 100 % 97:02}"


def _numbered(desk: Desk, numbers: Numbers) -> Desk:
    """Have tickets tell their consignments, and the desk know the whole codes."""
    taking, settling = desk.tool("next_ticket"), desk.tool(queue.SETTLE)
    told = [
        reply.model_copy(
            update={"says": f"{reply.says}\n{say(NAME, 'ticket', number=numbers[ticket])}"}
        )
        for ticket, reply in zip(numbers, taking.replies, strict=False)
    ]
    rest = taking.replies[len(numbers) :]
    desk = with_tool(desk, taking.model_copy(update={"replies": (*told, *rest)}))
    settled = tuple(_settled(reply, numbers) for reply in settling.replies)
    return with_tool(desk, settling.model_copy(update={"replies": settled}))


def _settled(reply: Reply, numbers: Numbers) -> Reply:
    if "code" not in reply.where:
        return reply
    return reply.model_copy(update={"where": {**reply.where, "code": _code(reply.where, numbers)}})


def _code(given: Mapping[str, JsonValue], numbers: Numbers) -> str:
    return f"{given['code']}-{digits(numbers[str(given['ticket'])])}"


OPERATOR = Operator(
    name=NAME,
    reason="Who has no action left to compute with has to be exact without, each time.",
    apply=apply,
    draws=True,
    needs=(queue.NAME,),
)
