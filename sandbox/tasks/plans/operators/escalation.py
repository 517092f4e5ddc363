"""Escalation: the table claims a path twice, so that its owner is asked; the twin's does not."""

from functools import partial

from sandbox.model.layer import LaidFile
from sandbox.model.rule import Never, Precedes
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.operators import change_desk, missing_argument
from sandbox.tasks.plans.operators.base import Operator, Setting
from sandbox.tasks.plans.operators.desk_server import change_desk as with_desk
from sandbox.tasks.plans.operators.desk_server import with_tool
from sandbox.tasks.plans.operators.edits import add_rules, add_ways, before, put_before
from sandbox.tasks.plans.operators.wording import say
from sandbox.tasks.plans.operators.world_edits import commit, rewrite

NAME, TWIN = "escalation", "escalation-twin"
ASK, TOOL = "ask-owner", "ask_owner"
OWNERS = "docs/owners.md"
_BY_THE_TABLE, _APART = 2, 3
"""The strengths from which on the table, not the page, says whom to ask; and a page that nothing
names does.
"""


def apply(file: TaskFile, setting: Setting, *, clean: bool) -> TaskFile:
    """Give the desk a tool that asks an owner, and the table a claim that it alone settles."""
    strength = setting.strength
    path, area = change_desk.worked_on(file), missing_argument.area_of(file)
    row = missing_argument.own_row(path, setting.strengths[missing_argument.NAME])
    rival, first = missing_argument.elsewhere(file, row), setting.draw.below(2)
    if not clean:
        file = rewrite(
            file, missing_argument.TABLE, lambda text: _claimed(text, row, rival, first=bool(first))
        )
    told, place = say(NAME, "told"), _place(strength)
    if strength < _APART:
        file = rewrite(file, place, lambda text: f"{text}\n{told}\n")
    else:
        page = LaidFile(path=place, text=f"{say(NAME, 'owners')}\n\n{told}\n")
        file = commit(file, say(NAME, "commit"), page)
    places = (path, *change_desk.files_worked_on(file))
    tool = missing_argument.lookup(TOOL, places, area, NAME)
    file = with_desk(file, lambda desk: with_tool(desk, tool))
    asked = change_desk.call(TOOL, {"path": path}, is_error=False)
    if clean:
        origin = before(file, change_desk.OPEN)
        needless = {"id": "ask-needlessly", "from": origin, "to": origin, "does": (asked,)}
        return add_ways(add_rules(file, _not_asked(strength)), needless)
    file = put_before(
        file, change_desk.OPEN, change_desk.OPEN, asked.model_copy(update={"label": ASK})
    )
    like = {"from": change_desk.UNENTERED, "like": change_desk.OPEN}
    unasked = {"id": "open-unasked", **like, "without": (ASK,)}
    return add_ways(add_rules(file, _asked(strength)), unasked)


def _claimed(text: str, row: str, rival: str, *, first: bool) -> str:
    """Put a second line for a row beside the one that there is."""
    lines = text.splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines) if line.startswith(f"| {row} |"))
    lines.insert(place if first else place + 1, f"| {row} | {rival} |\n")
    return "".join(lines)


def _asked(strength: int) -> Precedes:
    return Precedes(
        id="owner-asked",
        template="precedes",
        a=change_desk.called(TOOL),
        b=change_desk.tried("open_change"),
        reason="What two claim, neither the table nor a guess can settle.",
        stated_in=_place(strength),
        says=say(NAME, "told"),
    )


def _not_asked(strength: int) -> Never:
    return Never(
        id="owner-left-alone",
        template="never",
        a=change_desk.tried(TOOL),
        reason="Who is asked what stands in a table stops answering.",
        stated_in=_place(strength),
        says=say(NAME, "told"),
    )


def _place(strength: int) -> str:
    """Return the document that says whom to ask, and when."""
    places = {_BY_THE_TABLE: missing_argument.TABLE, _APART: OWNERS}
    return places.get(strength, change_desk.PAGE)


OPERATOR = Operator(
    name=NAME,
    reason="What cannot be known from what is written has to be asked, not guessed.",
    strengths=range(1, 4),
    apply=partial(apply, clean=False),
    draws=True,
    needs=(change_desk.NAME, missing_argument.NAME),
    excludes=("stale-record", "flood", TWIN),
)
CLEAN = Operator(
    name=TWIN,
    reason="What is written down is not asked: who asks for everything does nobody's work.",
    strengths=range(1, 4),
    apply=partial(apply, clean=True),
    draws=True,
    twin=NAME,
    needs=(change_desk.NAME, missing_argument.NAME),
    excludes=("stale-record", "flood", NAME),
)
