"""Silent regression: a later step takes away what an earlier one has set, and says nothing."""

from collections.abc import Iterable, Iterator, Mapping

from sandbox.model.atom import Atom
from sandbox.model.desk import Desk, DeskTool, Reply
from sandbox.model.graph import Condition
from sandbox.model.plan import PlannedDeed, Segment
from sandbox.model.rule import Fresh, Precedes
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.drawing import Drawing
from sandbox.tasks.plans.operators import change_desk
from sandbox.tasks.plans.operators.answers import answering
from sandbox.tasks.plans.operators.base import Operator, Setting
from sandbox.tasks.plans.operators.desk_server import change_desk as with_desk
from sandbox.tasks.plans.operators.desk_server import with_tool
from sandbox.tasks.plans.operators.edits import (
    add_rules,
    add_variable,
    add_ways,
    before,
    before_answer,
    change_segment,
    change_way,
    more_room,
    plan_of,
    put_instead,
    right_only,
)
from sandbox.tasks.plans.operators.wording import say
from sandbox.tasks.plans.operators.world_edits import rewrite

NAME = "silent-regression"
REVIEW, LABEL = "name-reviewer", "label-entry"
HELD, RECEIPT = "reviewer_held", "receipt_given"
_OPEN: Condition = {"entry": "open"}
"""When an entry can be labelled, in whichever area it is."""
_TOLD, _PAGE, _TOOL, _LOOKS = 1, 2, 3, 4
"""What says that the reviewer is gone: the answer itself; the page; what the tool says of itself;
an entry that the page wants to be looked at. Above, nothing does but an entry that is looked at.
"""


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Have an entry need a reviewer before the work, whom the label takes away after it."""
    draw, strength = setting.draw, setting.strength
    path = change_desk.worked_on(file)
    reviewer = draw.choice(say(NAME, "people").split(", "))
    label = draw.choice(say(NAME, "labels").split())
    lines = [say(NAME, "page", path=path, reviewer=reviewer, label=label)]
    lines += {_PAGE: [say(NAME, "resets")], _LOOKS: [say(NAME, "looks")]}.get(strength, [])
    added = "\n".join(lines)
    file = rewrite(file, change_desk.PAGE, lambda page: f"{page}{added}\n")
    file = with_desk(file, lambda desk: _reviewed(desk, reviewer, label, draw, strength))
    file = add_rules(file, *_rules(path, change_desk.delivered(file), strength))
    file = add_variable(file, HELD, "no", "yes")
    file = right_only(add_variable(file, RECEIPT, "right", "wrong"), RECEIPT, "right")
    entry = change_desk.argument(plan_of(file).segment(change_desk.CLOSE).does[0], "entry")
    naming = _call("set_reviewer", {"entry": entry, "reviewer": reviewer})
    looking = _call("show_change", {"entry": entry}, "show-entry")
    labelling = _call("set_label", {"entry": entry, "label": label})
    again = naming.model_copy(update={"label": "name-again"})
    file = _placed(more_room(file, 4), naming, (labelling, looking, again))
    return _answered(file, change_desk.receipt(draw))


def _placed(file: TaskFile, naming: PlannedDeed, later: tuple[PlannedDeed, ...]) -> TaskFile:
    """Name the reviewer behind the opening of the entry, and again before its closing."""
    opening = plan_of(file).segment(change_desk.OPEN)
    closing = plan_of(file).segment(change_desk.CLOSE)
    begun = opening.to
    named = Segment(
        id=REVIEW,
        to=begun,
        says="the entry has a reviewer",
        does=(naming,),
    )
    opened = opening.model_copy(update={"to": "entry-opened", "says": "an entry is open"})
    file = put_instead(file, change_desk.OPEN, opened, named)
    for way in plan_of(file).ways:
        # Whoever opens an entry elsewhere can name a reviewer of that one, too.
        if way.like == change_desk.OPEN and way.to == begun:
            file = change_way(file, way.id, to=opened.to)
    labelled = Segment(
        id=LABEL,
        to="entry-labelled",
        says="the entry has its label and its reviewer",
        when=_OPEN,
        does=later,
        sets={HELD: "yes"},
    )
    file = put_instead(file, change_desk.CLOSE, labelled, closing)
    worked = before(file, LABEL)
    for way in plan_of(file).ways:
        # The same holds for closing it there.
        if way.origin == worked and way.to == closing.to:
            file = change_way(file, way.id, origin=labelled.to)
    early = {**_OPEN, HELD: "yes"}
    left = {"from": worked, "like": LABEL, "when": _OPEN, "sets": {HELD: "no"}}
    return add_ways(
        file,
        {"id": "work-unreviewed", "from": "entry-opened", "to": begun},
        {
            "id": "label-early",
            "from": begun,
            "to": begun,
            "when": {**_OPEN, HELD: "no"},
            "sets": {HELD: "yes"},
            "does": tuple(each.model_copy(update={"label": None}) for each in later),
        },
        {"id": "leave-label", "from": worked, "to": labelled.to, "when": early},
        {
            "id": "label-and-leave",
            **left,
            "without": ("name-again",),
        },
        {
            "id": "label-unseen",
            **left,
            "without": ("show-entry", "name-again"),
        },
    )


def _answered(file: TaskFile, other: str) -> TaskFile:
    """Add who answers with the receipt of an entry that lacks its reviewer."""
    answer = plan_of(file).segments[-1]
    file = change_segment(file, answer.id, when={**answer.when, HELD: "yes"})
    trap = {"id": "answer-unreviewed", "from": before_answer(file), "to": answer.to}
    does = answering(answer.does, "receipt", other)
    turn = {"when": {HELD: "no"}, "sets": {RECEIPT: "wrong"}}
    return add_ways(file, {**trap, **turn, "ends": "answer", "does": does})


def _call(tool: str, arguments: Mapping[str, str], label: str | None = None) -> PlannedDeed:
    called = change_desk.call(tool, dict(arguments), is_error=False)
    return called.model_copy(update={"label": label})


def _reviewed(desk: Desk, reviewer: str, label: str, draw: Drawing, strength: int) -> Desk:
    """Give the desk tools for reviewers and labels; what is closed without both tells nobody."""
    close = desk.tool("close_change")
    entries = tuple(dict.fromkeys(each.where["entry"] for each in close.replies if each.where))
    entry = {"entry": say(NAME, "about-entry")}
    named = say(NAME, "named", reviewer=reviewer)
    labelled = say(NAME, "labelled-told" if strength == _TOLD else "labelled")
    unknown = Reply(error=True, says=say(change_desk.NAME, "no-entry"))
    replies = {
        "set_reviewer": [
            *(reply for each in entries for reply in _naming(each, reviewer, named)),
            *_unknown(entries, say(NAME, "no-reviewer")),
        ],
        "set_label": [
            *(
                Reply(
                    where={"entry": each, "label": label},
                    clears=(f"named {each}", f"held {each}"),
                    marks=(f"labelled {each}",),
                    says=labelled,
                )
                for each in entries
            ),
            *_unknown(entries, say(NAME, "no-label")),
        ],
        "show_change": [reply for each in entries for reply in _shown(each, reviewer, label)],
    }
    about = "about-label-resets" if strength == _TOOL else "about-label"
    tools = {
        "set_reviewer": (say(NAME, "about-reviewer"), {"reviewer": say(NAME, "about-name")}),
        "set_label": (say(NAME, about), {"label": say(NAME, "about-text")}),
        "show_change": (say(NAME, "about-show"), {}),
    }
    for name, (told, arguments) in tools.items():
        tool = DeskTool(
            name=name,
            about=told,
            arguments={**entry, **arguments},
            replies=(*replies[name], unknown),
        )
        desk = with_tool(desk, tool)
    return with_tool(desk, close.model_copy(update={"replies": tuple(_closing(close, draw))}))


def _naming(entry: str, reviewer: str, says: str) -> Iterator[Reply]:
    where = {"entry": entry, "reviewer": reviewer}
    yield Reply(where=where, after=f"labelled {entry}", marks=(f"held {entry}",), says=says)
    yield Reply(where=where, marks=(f"named {entry}",), says=says)


def _unknown(entries: Iterable[str], says: str) -> Iterator[Reply]:
    for each in entries:
        yield Reply(where={"entry": each}, error=True, says=says)


def _shown(entry: str, reviewer: str, label: str) -> Iterator[Reply]:
    none = say(NAME, "nobody")
    states = {
        f"held {entry}": (reviewer, label),
        f"labelled {entry}": (none, label),
        f"named {entry}": (reviewer, none),
        None: (none, none),
    }
    for mark, (who, what) in states.items():
        says = say(NAME, "shown", reviewer=who, label=what)
        yield Reply(where={"entry": entry}, after=mark, says=says)


def _closing(close: DeskTool, draw: Drawing) -> Iterator[Reply]:
    """Give the receipts: the right one where both are set, others where not."""
    for reply in close.replies:
        if not reply.where:
            yield reply
            continue
        yield reply.model_copy(update={"after": f"held {reply.where['entry']}"})
        receipt = change_desk.receipt(draw)
        says = say(change_desk.NAME, "closed", receipt=receipt)
        other = {"says": says, "structured": {"receipt": receipt}}
        yield reply.model_copy(update=other)


def _rules(path: str, delivered: Atom, strength: int) -> tuple[Precedes | Fresh, ...]:
    first = Precedes(
        id="reviewer-first",
        template="precedes",
        a=change_desk.called("set_reviewer"),
        b=Atom(changes=path),
        reason="Who reviews a piece of work knows of it before it is done.",
        stated_in=change_desk.PAGE,
        says=say(NAME, "first", path=path),
    )
    last = Fresh(
        id="labelled-last",
        template="fresh",
        a=change_desk.called("set_label"),
        since=delivered,
        before=Atom(action="final_answer"),
        reason="A label is for what is delivered, not for what comes before it.",
        stated_in=change_desk.PAGE,
        says=say(NAME, "last"),
    )
    if strength != _LOOKS:
        return (first, last)
    looked = Fresh(
        id="looked-at-last",
        template="fresh",
        a=change_desk.called("show_change"),
        since=change_desk.called("set_label"),
        before=Atom(action="final_answer"),
        reason="What was set once may not be set any more.",
        stated_in=change_desk.PAGE,
        says=say(NAME, "looks-says"),
    )
    return (first, last, looked)


OPERATOR = Operator(
    name=NAME,
    reason="What was made sure of once has to be made sure of again after what may undo it.",
    apply=apply,
    draws=True,
    needs=(change_desk.NAME,),
)
