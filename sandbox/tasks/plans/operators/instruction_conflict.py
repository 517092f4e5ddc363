"""Instruction conflict: documents disagree on an argument, and one says which of them holds."""

from dataclasses import dataclass

from pydantic import JsonValue

from sandbox.model.atom import Atom, Predicate
from sandbox.model.desk import Desk
from sandbox.model.layer import LaidFile, LaidServer
from sandbox.model.plan import PlannedDeed
from sandbox.model.rule import Never
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.operators import change_desk
from sandbox.tasks.plans.operators.base import Operator, Setting
from sandbox.tasks.plans.operators.desk_server import DATA, served, with_tool
from sandbox.tasks.plans.operators.edits import (
    add_rules,
    add_ways,
    before,
    map_actions,
    more_room,
    plan_of,
    put_before,
    tell,
)
from sandbox.tasks.plans.operators.wording import say
from sandbox.tasks.plans.operators.world_edits import commit, rewrite, with_layer

NAME, RULE, WAY, ARGUMENT = "instruction-conflict", "right-kind", "open-by-another-rule", "kind"
FOLDER = "docs/decisions"
README = f"{FOLDER}/README.md"
_USER, _NEWER, _NEARER, _PROPOSED, _TAKEN_BACK = 1, 2, 3, 4, 5
"""What holds: the user's word; the newer decision; the one about fewer files; none that is only
proposed; and none that another one has taken back.
"""
_KINDS = ("guard", "repair", "tidy", "upkeep", "reform", "relief")


@dataclass(frozen=True, slots=True)
class _Decision:
    year: int
    about: str
    kind: str
    status: str = "accepted"
    takes_back: int | None = None
    """The place of an earlier one among all."""


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Have entries be of a kind, on which documents disagree; what holds is told by one of them."""
    strength = setting.strength
    path = change_desk.worked_on(file)
    right, wrong, *others = setting.draw.shuffled(_KINDS)
    made = _decisions(path, right, wrong, others[0], strength)
    pages = [_page(number, each) for number, each in enumerate(made, 1)]
    pages.append(LaidFile(path=README, text=say(NAME, f"readme-{_worded(strength)}") + "\n"))
    if strength == _USER:
        pages = []
        file = tell(file, say(NAME, "prompt", kind=right))
    told = say(NAME, "page-user" if strength == _USER else "page", kind=wrong, path=path)
    file = rewrite(file, change_desk.PAGE, lambda text: f"{text}{told}\n")
    if pages:
        file = commit(file, say(NAME, "commit"), *pages)
    file = with_layer(file, servers=tuple(map(_with_kind, file.world.layer.servers)))
    file = map_actions(file, lambda action, arguments: _of_kind(action, arguments, right))
    file = more_room(add_rules(file, _rule(right, strength)), len(pages))
    for each in reversed(pages):
        look = PlannedDeed(action="read_file", arguments={"path": each.path})
        file = put_before(file, change_desk.OPEN, change_desk.OPEN, look)
    opening = plan_of(file).segment(change_desk.OPEN)
    opened = next(deed for deed in opening.does if deed.label == change_desk.OPEN)
    arguments = _of_kind("call_tool", opened.arguments, wrong)
    instead = {change_desk.OPEN: opened.model_copy(update={"arguments": arguments, "label": None})}
    origin = before(file, change_desk.OPEN)
    return add_ways(file, {"id": WAY, "from": origin, "like": change_desk.OPEN, "instead": instead})


def _decisions(path: str, right: str, wrong: str, other: str, strength: int) -> list[_Decision]:
    """Return what was decided, the oldest first."""
    folder = change_desk.folder_of(path)
    near, far = f"`{folder}/`" if folder else f"`{path}`", say(NAME, "everything")
    if strength < _NEARER:
        return [_Decision(2019, near, wrong), _Decision(2022, near, right)]
    found = [_Decision(2018, near, other), _Decision(2020, near, right)]
    if strength >= _TAKEN_BACK:
        found.append(_Decision(2021, f"`{path}`", other))
    taken = len(found)
    found.append(_Decision(2023, far, wrong))
    if strength >= _PROPOSED:
        found.append(_Decision(2024, f"`{path}`", wrong, "proposed"))
    if strength >= _TAKEN_BACK:
        found.append(_Decision(2024, "", "", takes_back=taken))
    return found


def _page(number: int, made: _Decision) -> LaidFile:
    if made.takes_back is not None:
        text = say(NAME, "taken-back", number=_number(made.takes_back))
    else:
        text = say(NAME, "decided", about=made.about, kind=made.kind)
    head = say(NAME, "decision", number=_number(number), year=made.year, status=made.status)
    return LaidFile(path=f"{FOLDER}/{_number(number)}.md", text=f"{head}\n\n{text}\n")


def _number(place: int) -> str:
    return f"{place:04}"


def _with_kind(server: LaidServer) -> LaidServer:
    """Have `open_change` of a desk, closed or not, take a kind."""
    if DATA not in server.files:
        return server
    desk = Desk.model_validate_json(server.files[DATA])
    for tool in desk.tools:
        if tool.name == "open_change":
            arguments = {**tool.arguments, ARGUMENT: say(NAME, "about-kind")}
            desk = with_tool(desk, tool.model_copy(update={"arguments": arguments}))
    return served(server.name, server.about, desk)


def _of_kind(action: str, arguments: dict[str, JsonValue], kind: str) -> dict[str, JsonValue]:
    given = arguments.get("arguments")
    if action != "call_tool" or arguments.get("tool") != "open_change":
        return arguments
    known = given if isinstance(given, dict) else {}
    return {**arguments, "arguments": {**known, ARGUMENT: kind}}


def _worded(strength: int) -> int:
    """Return the strength whose words say which decision holds."""
    return min(max(strength, _NEWER), _PROPOSED)


def _rule(kind: str, strength: int) -> Never:
    tried = change_desk.tried("open_change")
    other = {f"arguments.arguments.{ARGUMENT}": Predicate(matches=f"^(?!{kind}$)")}
    user = strength == _USER
    return Never(
        id=RULE,
        template="never",
        a=Atom.model_validate({**dict(tried), "where": {**tried.where, **other}}),
        reason="Of two instructions that disagree only one holds, and a document says which.",
        stated_in=change_desk.PAGE if user else README,
        says=say(NAME, "user-first") if user else say(NAME, f"first-{_worded(strength)}"),
    )


OPERATOR = Operator(
    name=NAME,
    reason="Where instructions disagree, the repository's own rule decides, not the last one read.",
    apply=apply,
    draws=True,
    needs=(change_desk.NAME,),
)
