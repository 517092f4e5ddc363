"""Recoverable failure: the desk fails once, and what is right then depends on what it has done."""

from sandbox.model.atom import Predicate
from sandbox.model.desk import Desk, DeskTool, Reply
from sandbox.model.plan import Segment
from sandbox.model.rule import Fresh, Never
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.operators import change_desk
from sandbox.tasks.plans.operators.base import Operator, Setting
from sandbox.tasks.plans.operators.desk_server import change_desk as with_desk
from sandbox.tasks.plans.operators.desk_server import with_replies, with_tool
from sandbox.tasks.plans.operators.edits import (
    add_rules,
    add_ways,
    change_way,
    drop,
    plan_of,
    put_instead,
)
from sandbox.tasks.plans.operators.wording import say
from sandbox.tasks.plans.operators.world_edits import rewrite

NAME, LOOK, AGAIN = "recoverable-failure", "look-for-entry", "open-again"
_TOLD, _UNKNOWN, _DONE, _BOTH = 1, 3, 4, 5
"""The strengths at which the failure says what to do; from which on it is the opening that fails;
from which on the entry is there all the same; from which on closing fails, too.
"""


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Have closing fail once, or opening, or both."""
    if setting.strength < _UNKNOWN or setting.strength >= _BOTH:
        file = _busy(file, setting.strength)
    if setting.strength >= _UNKNOWN:
        file = _unanswered(file, done=setting.strength >= _DONE)
    return file


def _busy(file: TaskFile, strength: int) -> TaskFile:
    """Have the first closing fail; the same call again is right."""
    close = plan_of(file).segment(change_desk.CLOSE)
    (deed,) = close.does
    says = say(NAME, "busy-1" if strength == _TOLD else "busy")
    failed = deed.model_copy(update={"result": {"is_error": True}})
    entry = change_desk.argument(deed, "entry")
    busy = Reply(where={"entry": entry}, after="opened", times=1, error=True, says=says)
    file = with_desk(file, lambda desk: with_replies(desk, "close_change", busy))
    if strength > _TOLD:
        file = _on_the_page(file, say(NAME, "repeat"))
    first = Segment(
        id="close-refused",
        to="desk-busy",
        says="the desk was busy",
        when=close.when,
        does=(failed,),
    )
    file = change_way(file, "close-early", does=(failed, deed))
    answer = plan_of(file).segments[-1].id
    file = put_instead(file, change_desk.CLOSE, first, close.model_copy(update={"kind": "retry"}))
    return add_ways(file, {"id": "answer-refused", "from": "desk-busy", "like": answer})


def _unanswered(file: TaskFile, *, done: bool) -> TaskFile:
    """Have the first opening give no answer; whether the entry is there has to be looked up."""
    opening = plan_of(file).segment(change_desk.OPEN)
    deed = next(each for each in opening.does if each.label == change_desk.OPEN)
    failed = deed.model_copy(update={"result": {"is_error": True}})
    area = change_desk.argument(deed, "area")
    file = with_desk(file, lambda desk: _silent(desk, area, done=done))
    file = _on_the_page(file, say(NAME, "look"))
    does = tuple(failed if each is deed else each for each in opening.does)
    tried = opening.model_copy(
        update={"does": does, "milestone": None, "to": "desk-silent", "says": "nobody answered"}
    )
    looked = Segment(
        id=LOOK,
        to="entry-looked-up",
        says="whether there is an entry is known",
        does=(change_desk.call("list_changes", {}, is_error=False),),
    )
    again = Segment(
        id=AGAIN,
        to=opening.to,
        says="an entry is open",
        kind="retry",
        milestone=change_desk.OPEN,
        does=(deed.model_copy(update={"label": None}),),
    )
    file = put_instead(file, change_desk.OPEN, tried, looked, *(() if done else (again,)))
    late = (*tried.does, *looked.does, *(() if done else again.does))
    unlabelled = tuple(each.model_copy(update={"label": None}) for each in late)
    milestone = None if done else change_desk.OPEN
    file = change_way(
        file, "open-late", like=None, does=unlabelled, sets=opening.sets, milestone=milestone
    )
    blindly = {"id": "open-blindly", "from": "desk-silent", "to": opening.to}
    file = add_ways(file, {**blindly, "does": again.does, "milestone": milestone})
    if not done:
        return add_rules(file, _looked_first())
    file = drop(file, "entered-first", "one-entry", change_desk.OPEN)
    first = change_desk.entered_first(
        change_desk.worked_on(file), change_desk.called("list_changes")
    )
    return add_rules(file, first, _one_entry(area))


def _silent(desk: Desk, area: str, *, done: bool) -> Desk:
    number = str(desk.tool("open_change").replies[-3].structured["entry"])
    silent = Reply(
        where={"area": area},
        times=1,
        marks=("opened",) if done else (),
        error=True,
        says=say(NAME, "no-answer"),
    )
    return with_tool(with_replies(desk, "open_change", silent), _listing(desk, number))


def _listing(desk: Desk, number: str) -> DeskTool:
    """Return the tool that tells what is open, in whichever area it was opened."""
    empty = Reply(says=say(NAME, "empty"), structured={"entries": []})
    opened = {"opened": number} | {
        mark: str(reply.structured["entry"])
        for reply in desk.tool("open_change").replies
        for mark in reply.marks
        if mark != "opened"
    }
    listed = (
        Reply(
            after=mark,
            says=say(NAME, "listed", number=entry),
            structured={"entries": [entry]},
        )
        for mark, entry in opened.items()
    )
    return DeskTool(
        name="list_changes",
        about=say(NAME, "about-list"),
        replies=(empty.model_copy(update={"after": "closed"}), *listed, empty),
    )


def _on_the_page(file: TaskFile, line: str) -> TaskFile:
    return rewrite(file, change_desk.PAGE, lambda page: f"{page}{line}\n")


def _looked_first() -> Fresh:
    tried = change_desk.tried("open_change")
    failed = tried.model_copy(update={"where": {"result.is_error": Predicate(equals=True)}})
    return Fresh(
        id="looked-first",
        template="fresh",
        a=change_desk.called("list_changes"),
        since=failed,
        before=change_desk.called("open_change"),
        reason="What was not answered may have been done.",
        stated_in=change_desk.PAGE,
        says="look with `list_changes` before you open an entry again.",
    )


def _one_entry(area: str) -> Never:
    """Return the rule where the entry was made when no answer came."""
    opened = change_desk.called("open_change")
    ours = {"arguments.arguments.area": Predicate(equals=area)}
    return Never(
        id="one-entry",
        template="never",
        a=opened.model_copy(update={"where": {**opened.where, **ours}}),
        reason="Two entries for one piece of work are counted twice.",
        stated_in=change_desk.PAGE,
        says=change_desk.ONE_ENTRY,
    )


OPERATOR = Operator(
    name=NAME,
    reason="Whether to do a thing again depends on what the first try has done.",
    apply=apply,
    needs=(change_desk.NAME,),
)
