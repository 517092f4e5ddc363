"""Missing argument: the page leaves out the area of an entry, which a table gives."""

import re
from collections.abc import Collection, Mapping, Sequence

from sandbox.model.atom import Atom, Predicate
from sandbox.model.desk import Desk, DeskTool, Reply
from sandbox.model.layer import LaidFile
from sandbox.model.plan import PlannedDeed
from sandbox.model.rule import Never
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.drawing import Drawing
from sandbox.tasks.plans.operators import change_desk
from sandbox.tasks.plans.operators.base import Operator, Setting
from sandbox.tasks.plans.operators.desk_server import change_desk as with_desk
from sandbox.tasks.plans.operators.desk_server import desk_of, with_replies
from sandbox.tasks.plans.operators.edits import (
    add_rules,
    add_variable,
    add_ways,
    before,
    change_segment,
    plan_of,
    put_before,
)
from sandbox.tasks.plans.operators.wording import say
from sandbox.tasks.plans.operators.world_edits import commit, rewrite

NAME, TABLE, TEAMS = "missing-argument", "docs/areas.md", "docs/teams.md"
RULE = "right-area"
_REST = "everything else"
_NAMES = ("Ash", "Beech", "Cedar", "Elm", "Hazel", "Larch", "Maple", "Rowan")
_MANY, _UNNAMED, _BY_TEAM, _APART = 2, 3, 4, 5
"""The strengths from which on rows overlap, nothing names the table, teams stand between path and
area, and these stand in a file of their own.
"""

ROWS = re.compile(r"^\| path \|.*\n\|---\|---\|\n(?:\|.*\n?)+", re.MULTILINE)
"""The table of paths, of which a document has one."""
_ROW = re.compile(r"^\| (?!path |team |---)(.*?) \| (.*?) \|$", re.MULTILINE)


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Take the area out of the page and put a table into the repository; the desk takes others."""
    draw, strength = setting.draw, setting.strength
    path, area = change_desk.worked_on(file), area_of(file)
    others = _others(draw, area, path, strength)
    areas = {row: others[row] for row in others} | {own_row(path, strength): area}
    files = _files(areas, draw, strength)
    plain, said = say(change_desk.NAME, "area", area=area), sentence(strength)
    file = rewrite(file, change_desk.PAGE, lambda page: page.replace(plain, said))
    form = setting.strengths[change_desk.NAME]
    entries = {other: change_desk.number(draw) for other in sorted(others.values())}
    file = with_desk(file, lambda desk: taking(desk, entries, draw, form))
    file = commit(file, say(NAME, "commit"), *files)
    looks = (PlannedDeed(action="read_file", arguments={"path": each.path}) for each in files)
    file = put_before(file, change_desk.OPEN, change_desk.OPEN, *looks)
    close = plan_of(file).segment(change_desk.CLOSE)
    file = change_segment(file, change_desk.CLOSE, when={**close.when, "area": "right"})
    file = add_variable(
        add_rules(file, right_area(area, said)), "area", "right", "elsewhere", "listed"
    )
    wrong = min(entries)
    return entered_in(file, "elsewhere", wrong, change_desk.short(entries[wrong], form))


def sentence(strength: int) -> str:
    """Return what the page says of the area."""
    return say(NAME, "unnamed" if strength >= _UNNAMED else "named")


def entered_in(file: TaskFile, where: str, area: str, entry: str) -> TaskFile:
    """Add the ways on which the entry is opened, and closed, in an area that is not the right one.

    `where` is what the graph calls the area.
    """
    opening = plan_of(file).segment(change_desk.OPEN)
    close, origin = plan_of(file).segment(change_desk.CLOSE), before(file, change_desk.CLOSE)
    opened = change_desk.call("open_change", {"area": area}, is_error=False)
    closed = change_desk.call("close_change", {"entry": entry}, is_error=False)
    known = {"when": {"entry": "open", "area": where}, "sets": {"entry": "closed"}}
    return add_ways(
        file,
        {
            "id": f"open-{where}",
            "from": change_desk.UNENTERED,
            "to": opening.to,
            "like": change_desk.OPEN,
            "instead": {change_desk.OPEN: opened},
            "sets": {"area": where},
        },
        {
            "id": f"close-{where}",
            "from": origin,
            "to": close.to,
            "does": (closed,),
            "milestone": close.milestone,
            **known,
        },
    )


def area_of(file: TaskFile) -> str:
    """Return the area in which the oracle opens its entry."""
    opening = plan_of(file).segment(change_desk.OPEN)
    opened = next(deed for deed in opening.does if deed.label == change_desk.OPEN)
    return change_desk.argument(opened, "area")


def another(draw: Drawing, known: Collection[str]) -> str:
    """Draw an area that is none of those known."""
    while (area := change_desk.area(draw)) in known:
        pass
    return area


def listed(file: TaskFile) -> list[str]:
    """Return the areas that the desk takes."""
    return [each.where["area"] for each in desk_of(file).tool("open_change").replies if each.where]


def table(file: TaskFile) -> dict[str, str]:
    """Return what the table gives each path: an area, or a team."""
    text = next(each.text for each in _documents(file) if each.path == TABLE)
    return dict(_ROW.findall(ROWS.findall(text)[0]))


def elsewhere(file: TaskFile, own: str) -> str:
    """Return what the table gives a path other than `own`: it leads to the area of the trap."""
    way = next(each for each in plan_of(file).ways if each.id == "open-elsewhere")
    area = change_desk.argument(way.instead[change_desk.OPEN], "area")
    areas = {key: value for each in _documents(file) for key, value in _ROW.findall(each.text)}
    rows = table(file).items()
    return next(value for row, value in rows if row != own and area in (value, areas.get(value)))


def _documents(file: TaskFile) -> list[LaidFile]:
    commits = file.world.layer.commits
    return [each for made in commits for each in made.files if each.path in (TABLE, TEAMS)]


def own_row(path: str, strength: int) -> str:
    """Return the row that holds for a path: itself, or the folder that it is in."""
    folder = change_desk.folder_of(path)
    return f"{folder}/" if folder and strength < _MANY else path


def _others(draw: Drawing, area: str, path: str, strength: int) -> dict[str, str]:
    """Return rows that do not hold, with areas of their own."""
    rows = [_REST, "docs/", "tests/"]
    if strength >= _MANY:
        parts = [part for part in change_desk.folder_of(path).split("/") if part]
        rows += ["/".join(parts[:count]) + "/" for count in range(1, len(parts) + 1)]
    found: dict[str, str] = {}
    for row in dict.fromkeys(rows):
        found[row] = another(draw, {area, *found.values()})
    return found


def _files(areas: dict[str, str], draw: Drawing, strength: int) -> tuple[LaidFile, ...]:
    rows = sorted(areas)
    many = say(NAME, "many") if strength >= _MANY else ""
    if strength < _BY_TEAM:
        table = _table(say(NAME, "by-area"), {row: areas[row] for row in rows})
        return (_file(TABLE, say(NAME, "head"), many, table),)
    teams = dict(zip(rows, draw.shuffled(_NAMES), strict=False))
    table = _table(say(NAME, "by-team"), teams)
    of_teams = _table(say(NAME, "teams"), {teams[row]: areas[row] for row in draw.shuffled(rows)})
    if strength < _APART:
        return (_file(TABLE, say(NAME, "head"), many, table, of_teams),)
    elsewhere = say(NAME, "elsewhere")
    return (
        _file(TABLE, say(NAME, "head"), many, table, elsewhere),
        _file(TEAMS, say(NAME, "teams-head"), of_teams),
    )


def _table(head: str, rows: dict[str, str]) -> str:
    return "\n".join((head, *(say(NAME, "says", key=key, area=rows[key]) for key in rows)))


def _file(path: str, *parts: str) -> LaidFile:
    return LaidFile(path=path, text="\n\n".join(part for part in parts if part) + "\n")


def lookup(
    name: str, paths: Sequence[str], area: str, operator: str, about: str = "about"
) -> DeskTool:
    """Return a tool that tells the area of paths and of the folder of the first, and of no other.

    The words are those of an operator: `about`, `about-path`, `found` and `none`.
    """
    folder = change_desk.folder_of(paths[0])
    told = (
        Reply(
            where={"path": place},
            says=say(operator, "found", path=place, area=area),
            structured={"area": area},
        )
        for place in (*paths[:1], *((folder, f"{folder}/") if folder else ()), *paths[1:])
    )
    return DeskTool(
        name=name,
        about=say(operator, about),
        arguments={"path": say(operator, "about-path")},
        replies=(*told, Reply(error=True, says=say(operator, "none"))),
    )


def taking(desk: Desk, entries: Mapping[str, str], draw: Drawing, form: int) -> Desk:
    """Have the desk take entries of other areas, too: that an area is wrong, it does not tell.

    `entries` has their numbers by area.
    """
    for area, number in entries.items():
        mark, receipt = f"opened in {area}", change_desk.receipt(draw)
        opened = Reply(
            where={"area": area},
            marks=(mark,),
            says=say(change_desk.NAME, "opened", number=number),
            structured={"entry": number},
        )
        closed = Reply(
            where={"entry": change_desk.short(number, form)},
            after=mark,
            says=say(change_desk.NAME, "closed", receipt=receipt),
            structured={"receipt": receipt},
        )
        desk = with_replies(desk, "open_change", opened)
        desk = with_replies(desk, "close_change", closed)
    return desk


def right_area(area: str, says: str) -> Never:
    """Return the rule that an entry is opened in no other area; `says` are the page's words."""
    other = {"arguments.arguments.area": Predicate(matches=f"^(?!{area}$)")}
    opened = change_desk.called("open_change")
    return Never(
        id=RULE,
        template="never",
        a=Atom.model_validate({**dict(opened), "where": {**opened.where, **other}}),
        reason="An entry in another area is looked for by nobody.",
        stated_in=change_desk.PAGE,
        says=says,
    )


OPERATOR = Operator(
    name=NAME,
    reason="What is not said has to be looked up where it stands, not guessed.",
    apply=apply,
    draws=True,
    needs=(change_desk.NAME,),
)
