"""Change desk: the work is entered at a tool server, and closed by what that has answered."""

import posixpath
from collections.abc import Mapping

from pydantic import JsonValue

from sandbox.model.atom import Atom, Predicate
from sandbox.model.desk import Desk, DeskTool, Reply
from sandbox.model.final import FinalField
from sandbox.model.glob import Globs
from sandbox.model.layer import LaidFile
from sandbox.model.plan import Plan, PlannedDeed, Segment
from sandbox.model.rule import AtMost, Fresh, Precedes
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.drawing import DIGITS, LETTERS, Drawing
from sandbox.tasks.plans.operators.base import Operator, Setting, UnfitError
from sandbox.tasks.plans.operators.desk_server import OPENING, SERVER, add_server, served
from sandbox.tasks.plans.operators.edits import (
    add_milestones,
    add_rules,
    add_variable,
    add_ways,
    ask_for,
    plan_of,
    put_first,
    put_last,
    tell,
)
from sandbox.tasks.plans.operators.wording import say
from sandbox.tasks.plans.operators.world_edits import commit

NAME = SERVER
PAGE, LOG = "docs/change-desk.md", "docs/change-desk-log.md"
OPEN, CLOSE = OPENING, "close-change"
"""Segments; the first has the label of its call, too."""
UNENTERED = "unentered"
"""The state before an entry is opened."""
ONE_ENTRY = "One piece of work is one entry; do not open a second one."
LOGGED = 6
"""Entries of the log from which the short form is learnt."""


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Open an entry before the work and close it after; the receipt goes into the answer."""
    plan, path = plan_of(file), worked_on(file)
    draw, strength = setting.draw, setting.strength
    where, numbers, given = area(draw), (number(draw), number(draw)), receipt(draw)
    entry = short(numbers[0], strength)
    desk = _desk(where, numbers, {entry: given}, strength)
    told = LaidFile(path=PAGE, text=_page(path, where, draw, strength))
    log = (LaidFile(path=LOG, text=_log(draw, strength)),) if strength == max(STRENGTHS) else ()
    opening = call("open_change", {"area": where}, is_error=False)
    labelled = opening.model_copy(update={"label": OPEN})
    closing = call("close_change", {"entry": entry}, is_error=False)
    worked = before_the_end(plan, path)
    file = tell(file, say(NAME, "prompt"))
    file = commit(file, say(NAME, "commit"), told, *log)
    file = add_server(file, served(NAME, "Entries of changes.", desk))
    file = add_rules(file, *_rules(file, path))
    file = add_milestones(
        file, open_change=called("open_change"), close_change=called("close_change")
    )
    file = add_variable(file, "entry", "none", "open", "closed")
    file = put_last(file, _segment(CLOSE, "entry-closed", "the entry is closed", closing))
    file = put_first(
        file,
        Segment(
            id=OPEN,
            to=plan.start,
            says="an entry is open",
            milestone=OPEN,
            sets={"entry": "open"},
            does=(
                PlannedDeed(action="read_file", arguments={"path": PAGE}),
                *(PlannedDeed(action="read_file", arguments={"path": each.path}) for each in log),
                PlannedDeed(action="discover_tools"),
                labelled,
            ),
        ),
        start=UNENTERED,
        says=plan.says,
    )
    last = plan_of(file).segments[-3].to
    file = add_ways(
        file,
        {"id": "work-unentered", "from": UNENTERED, "to": plan.start},
        {"id": "open-late", "from": last, "to": last, "like": OPEN, "when": {"entry": "none"}},
        {"id": "open-twice", "from": plan.start, "does": (opening,), "when": {"entry": "open"}},
        {"id": "close-early", "from": worked, "does": (closing,), **_turns("open", "closed")},
        {"id": "answer-unclosed", "from": last, "like": plan.segments[-1].id},
    )
    return ask_for(file, "receipt", FinalField(type="string", expect=given))


def worked_on(file: TaskFile) -> str:
    """Return the file that has to be changed first of all, or a glob of it; UnfitError: none."""
    if not file.scope.must:
        raise UnfitError("its scope names no file that has to be changed")
    return file.scope.must[0]


def folder_of(path: str) -> str:
    """Return the folder of what is worked on; none where that may lie in any: `**/*.go`.

    A document that spoke of `**/` would not say whether it means more than the files themselves.
    """
    folder = posixpath.dirname(path)
    return "" if folder == "**" else folder


def files_worked_on(file: TaskFile) -> tuple[str, ...]:
    """Return what has to be changed of a glob: an agent asks by a file's name; none of a path."""
    path = worked_on(file)
    globs = Globs((path,))
    changed = dict.fromkeys(each for deed in plan_of(file).deeds for each in deed.changes)
    return tuple(each for each in changed if each != path and globs.match(each))


def area(draw: Drawing) -> str:
    """Draw an area."""
    return draw.text(LETTERS, 1).upper() + draw.text(DIGITS, 2)


def receipt(draw: Drawing) -> str:
    """Draw a receipt."""
    return "R-" + draw.text(LETTERS + DIGITS, 6)


def short(entry: str, strength: int) -> str:
    """Return the form of an entry's number by which it is closed."""
    _, digits, letters = entry.split("-")
    forms = {1: entry, 2: digits + letters, 3: digits + letters, 4: letters + digits}
    return forms.get(strength, letters[::-1] + digits)


def call(tool: str, arguments: Mapping[str, JsonValue], *, is_error: bool) -> PlannedDeed:
    """Return a call of the desk, and whether the tool says that it failed."""
    return PlannedDeed(
        action="call_tool",
        arguments={"server": NAME, "tool": tool, "arguments": dict(arguments)},
        result={"is_error": is_error},
    )


def tried(tool: str) -> Atom:
    """Return the atom of a tool that was called, whatever it answered."""
    return Atom(action="call_tool", arguments={"tool": f"^{tool}$"}, status="ok")


def called(tool: str) -> Atom:
    """Return the atom of a tool that was called and did what it was asked."""
    did = {"result.is_error": Predicate(equals=False)}
    return tried(tool).model_copy(update={"where": did})


def delivered(file: TaskFile) -> Atom:
    """Return the atom after which what is delivered is another: a commit, or a change."""
    if file.scope.git.commits == "required":
        return Atom(kind="committed")
    several = len(file.scope.must) > 1
    return Atom(changes=file.scope.must if several else worked_on(file))


def argument(deed: PlannedDeed, name: str) -> str:
    """Return an argument of a call of the desk."""
    arguments = deed.arguments["arguments"]
    return str(arguments[name]) if isinstance(arguments, dict) else ""


def entered_first(path: str, by: Atom) -> Precedes:
    """Return the rule that work is entered before it is begun."""
    return Precedes(
        id="entered-first",
        template="precedes",
        a=by,
        b=Atom(changes=path),
        reason="Work that nobody knows of is done twice.",
        stated_in=PAGE,
        says=f"Open an entry with `open_change` before you change {path}.",
    )


def _turns(before: str, after: str) -> dict[str, object]:
    return {"when": {"entry": before}, "sets": {"entry": after}}


def _segment(name: str, to: str, says: str, deed: PlannedDeed) -> Segment:
    return Segment(
        id=name,
        to=to,
        says=says,
        milestone=name,
        when={"entry": "open"},
        sets={"entry": "closed"},
        does=(deed,),
    )


def number(draw: Drawing) -> str:
    """Draw the number of an entry, whose letters are others backwards."""
    letters = draw.text(LETTERS, 3)
    while letters == letters[::-1]:
        letters = draw.text(LETTERS, 3)
    return f"CD-{draw.text(DIGITS, 4)}-{letters}"


def _page(path: str, area: str, draw: Drawing, strength: int) -> str:
    example = number(draw)
    form = say(NAME, f"form-{strength}", number=example, form=short(example, strength))
    text = say(NAME, "page", path=path, area=say(NAME, "area", area=area), form=form)
    return text + "\n"


def _log(draw: Drawing, strength: int) -> str:
    numbers = [number(draw) for _ in range(LOGGED)]
    rows = "\n".join(f"| {number} | {short(number, strength)} |" for number in numbers)
    return say(NAME, "log", rows=rows) + "\n"


def _desk(area: str, numbers: tuple[str, str], receipts: dict[str, str], strength: int) -> Desk:
    first, second = (say(NAME, "opened", number=number) for number in numbers)
    about = {2: "about-entry-2", 3: "about-entry-3"}.get(strength, "about-entry-1")
    if strength > 3:
        about = "about-entry-2"
    closed = tuple(
        Reply(
            where={"entry": entry},
            after="opened",
            marks=("closed",),
            says=say(NAME, "closed", receipt=receipt),
            structured={"receipt": receipt},
        )
        for entry, receipt in receipts.items()
    )
    return Desk(
        tools=(
            DeskTool(
                name="close_change",
                about=say(NAME, "about-close"),
                arguments={"entry": say(NAME, about)},
                replies=(*closed, Reply(error=True, says=say(NAME, "no-entry"))),
            ),
            DeskTool(
                name="open_change",
                about=say(NAME, "about-open"),
                arguments={"area": say(NAME, "about-area")},
                replies=(
                    Reply(
                        where={"area": area},
                        before="opened",
                        marks=("opened",),
                        says=first,
                        structured={"entry": numbers[0]},
                    ),
                    Reply(where={"area": area}, says=second, structured={"entry": numbers[1]}),
                    Reply(error=True, says=say(NAME, "no-area")),
                ),
            ),
        )
    )


def _rules(file: TaskFile, path: str) -> tuple[Precedes | AtMost | Fresh, ...]:
    return (
        entered_first(path, called("open_change")),
        AtMost(
            id="one-entry",
            template="at_most",
            a=called("open_change"),
            n=1,
            reason="Two entries for one piece of work are counted twice.",
            stated_in=PAGE,
            says=ONE_ENTRY,
        ),
        Fresh(
            id="closed-last",
            template="fresh",
            a=called("close_change"),
            since=delivered(file),
            before=Atom(action="final_answer"),
            reason="An entry is closed over what is delivered, not over what comes before it.",
            stated_in=PAGE,
            says="Close it with `close_change` when nothing is left but to answer",
        ),
    )


def before_the_end(plan: Plan, path: str) -> str:
    """Return the state before the last commit, or before the last change where none is made."""
    wanted = Globs((path,))
    origins = (plan.start, *(segment.to for segment in plan.segments))
    ends = [
        origin
        for origin, segment in zip(origins, plan.segments, strict=False)
        if any(deed.event == "committed" for deed in segment.does)
    ]
    changed = [
        origin
        for origin, segment in zip(origins, plan.segments, strict=False)
        if any(wanted.match(changed) for deed in segment.does for changed in deed.changes)
    ]
    if not ends and not changed:
        raise UnfitError(f"nothing on its oracle's way says that it changes {path}")
    return (ends or changed)[-1]


STRENGTHS = range(1, 6)
OPERATOR = Operator(
    name=NAME,
    reason="What a service answers has to be kept, and given back in the form that it wants.",
    strengths=STRENGTHS,
    apply=apply,
    draws=True,
)
