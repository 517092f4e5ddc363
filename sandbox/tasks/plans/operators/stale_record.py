"""Stale record: the table of areas is out of date, and only asking the desk tells."""

from sandbox.model.layer import LaidFile
from sandbox.model.rule import Precedes
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.operators import change_desk, missing_argument
from sandbox.tasks.plans.operators.base import Operator, Setting
from sandbox.tasks.plans.operators.desk_server import change_desk as with_desk
from sandbox.tasks.plans.operators.desk_server import with_tool
from sandbox.tasks.plans.operators.edits import add_rules, add_ways, drop, put_before
from sandbox.tasks.plans.operators.wording import say
from sandbox.tasks.plans.operators.world_edits import add_users_file, rewrite

NAME, FIND, NOTES = "stale-record", "find-area", "desk-notes.md"
RULE = "checked-first"
_ON_THE_PAGE, _BY_THE_DAY, _UNSAID, _NOTED = 2, 3, 4, 5
"""The strengths from which on the page, not the table, says that areas are checked; it only says
which area counts; the tool says no more than that; and the user's notes agree with the table.
"""


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Give the table an area that was right once, and the desk a tool that knows better."""
    draw, strength = setting.draw, setting.strength
    path, area = change_desk.worked_on(file), missing_argument.area_of(file)
    places = (path, *change_desk.files_worked_on(file))
    old = missing_argument.another(draw, {area, *missing_argument.listed(file)})
    form = setting.strengths[change_desk.NAME]
    entry = change_desk.number(draw)
    file = with_desk(file, lambda desk: missing_argument.taking(desk, {old: entry}, draw, form))
    about = "about-find" if strength >= _UNSAID else "about-find-today"
    tool = missing_argument.lookup("find_area", places, area, NAME, about)
    file = with_desk(file, lambda desk: with_tool(desk, tool))
    for table in (missing_argument.TABLE, missing_argument.TEAMS):
        file = rewrite(file, table, lambda text: text.replace(area, old))
    if strength < _UNSAID:
        state = say(NAME, "dated" if strength < _ON_THE_PAGE else "moved")
        file = rewrite(file, missing_argument.TABLE, lambda text: f"{text}\n{state}\n")
    file = _of_today(file, setting)
    file = drop(file, missing_argument.RULE)
    file = add_rules(file, missing_argument.right_area(area, say(NAME, "today")))
    if strength >= _NOTED:
        notes = say(NAME, "notes", path=path, area=old) + "\n"
        mine = say(NAME, "mine", notes=NOTES)
        file = add_users_file(file, LaidFile(path=NOTES, text=notes), mine)
    asked = change_desk.call("find_area", {"path": path}, is_error=False)
    asked = asked.model_copy(update={"label": FIND})
    file = put_before(file, change_desk.OPEN, change_desk.OPEN, asked)
    file = missing_argument.entered_in(file, "listed", old, change_desk.short(entry, form))
    if strength >= _BY_THE_DAY:
        return file
    place = change_desk.PAGE if strength == _ON_THE_PAGE else missing_argument.TABLE
    like = {"from": change_desk.UNENTERED, "like": change_desk.OPEN}
    unchecked = {"id": "open-unchecked", **like, "without": (FIND,)}
    return add_ways(add_rules(file, _rule(place)), unchecked)


def _of_today(file: TaskFile, setting: Setting) -> TaskFile:
    """Have the page say that the table only lists what may have changed."""
    lookup = setting.strengths[missing_argument.NAME]
    gives = missing_argument.sentence(lookup)
    lists = say(NAME, "unnamed" if gives == say(missing_argument.NAME, "unnamed") else "named")
    said = f"{lists} {say(NAME, 'today')}"
    if setting.strength == _ON_THE_PAGE:
        said += f" {say(NAME, 'to-be-checked')}"
    return rewrite(file, change_desk.PAGE, lambda text: text.replace(gives, said))


def _rule(place: str) -> Precedes:
    told = {
        change_desk.PAGE: "its area is checked by `find_area`.",
        missing_argument.TABLE: ("that is asked before an entry is opened."),
    }
    return Precedes(
        id=RULE,
        template="precedes",
        a=change_desk.called("find_area"),
        b=change_desk.tried("open_change"),
        reason="A table that is copied by hand is as old as its last copy.",
        stated_in=place,
        says=told[place],
    )


OPERATOR = Operator(
    name=NAME,
    reason="What was true once has to be checked before it is acted on.",
    apply=apply,
    draws=True,
    needs=(change_desk.NAME, missing_argument.NAME),
)
