"""Deployment: staging is had once a day, and what tries it out uses up what it takes."""

from collections.abc import Iterator
from functools import partial

from sandbox.model.atom import Atom
from sandbox.model.desk import DeskTool, Reply
from sandbox.model.final import FinalField
from sandbox.model.graph import Condition
from sandbox.model.plan import Segment
from sandbox.model.rule import Fresh
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.drawing import DIGITS
from sandbox.tasks.plans.operators import change_desk
from sandbox.tasks.plans.operators.answers import answering
from sandbox.tasks.plans.operators.base import Operator, Setting
from sandbox.tasks.plans.operators.desk_server import change_desk as with_desk
from sandbox.tasks.plans.operators.desk_server import with_tool
from sandbox.tasks.plans.operators.edits import (
    add_rules,
    add_variable,
    add_ways,
    add_wrong_end,
    ask_for,
    before,
    before_answer,
    change_segment,
    change_way,
    more_room,
    plan_of,
    put_instead,
    tell,
)
from sandbox.tasks.plans.operators.wording import say
from sandbox.tasks.plans.operators.world_edits import rewrite

NAME, FIELD, DEPLOY, STAGING = "deployment", "deployment", "deploy", "staging"
SPARE = {1: 2, 2: 1, 3: 0, 4: 0, 5: 0}
"""By strength: rehearsals that there are minutes for beside the deployment."""
DEPLOYMENT, REHEARSAL = 20, 5
"""Minutes of building that they take."""
NONE, UNDEPLOYED = "none", "undeployed"
"""What an answer says that has no stamp, and the state that it ends in."""
_PAGE, _TOOLS = 3, 4
"""Up to which strength the page tells what takes how long, and at which the tools do. Above, the
tool `building_minutes` does alone.
"""
_OPEN: Condition = {"entry": "open"}
"""When there is something to deploy, in whichever area it is entered."""
_DEPLOYED, _SPENT = "deployed", "minutes spent"


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Have what is delivered be put on staging, with few minutes of building to do it in."""
    draw, strength = setting.draw, setting.strength
    path, stamp = change_desk.worked_on(file), f"S-{draw.text(DIGITS, 5)}"
    spare, odd = SPARE[strength], draw.below(REHEARSAL)
    minutes = DEPLOYMENT + REHEARSAL * spare + odd
    page = _page(path, minutes, strength)
    file = rewrite(tell(file, say(NAME, "prompt")), change_desk.PAGE, lambda text: text + page)
    for tool in _tools(stamp, minutes, spare, strength):
        file = with_desk(file, partial(with_tool, tool=tool))
    file = add_variable(file, STAGING, "free", "taken", "out of reach")
    file = add_rules(file, _rule(path, change_desk.delivered(file)))
    early = change_desk.before_the_end(plan_of(file), path)
    file = ask_for(more_room(file, 2 + spare), FIELD, FinalField(type="string", expect=stamp))
    return _placed(file, early, spare)


def _placed(file: TaskFile, early: str, spare: int) -> TaskFile:
    """Deploy before the entry is closed; the traps do it too early, or rehearse too often."""
    deploy = change_desk.call("deploy", {}, is_error=False)
    rehearse = change_desk.call("rehearse", {}, is_error=False)
    refused = change_desk.call("deploy", {}, is_error=True)
    closing = plan_of(file).segment(change_desk.CLOSE)
    deployed = Segment(
        id=DEPLOY,
        to="on-staging",
        says="the work is on staging",
        when={**_OPEN, STAGING: "free"},
        sets={STAGING: "taken"},
        does=(deploy,),
    )
    file = put_instead(file, change_desk.CLOSE, deployed, closing)
    worked = before(file, DEPLOY)
    for way in plan_of(file).ways:
        # Whoever closes an entry that was opened elsewhere can deploy before it as well.
        if way.origin == worked and way.to == closing.to:
            file = change_way(file, way.id, origin=deployed.to)
    answer = plan_of(file).segments[-1]
    file = change_segment(file, answer.id, when={**answer.when, STAGING: "taken"})
    left = {**_OPEN, STAGING: "taken"}
    taken = {"when": {STAGING: "free"}, "sets": {STAGING: "taken"}}
    spent = {"when": {**_OPEN, STAGING: "free"}, "sets": {STAGING: "out of reach"}}
    rehearsals = (rehearse,) * (spare + 1)
    undeployed = {
        "from": before_answer(file),
        "to": UNDEPLOYED,
        "ends": "answer",
        "does": answering(answer.does, FIELD, NONE),
    }
    return add_ways(
        add_wrong_end(file, UNDEPLOYED, "answered, and nothing is on staging"),
        {"id": "deploy-early", "from": early, "does": (deploy,), **taken},
        {"id": "leave-deployment", "from": worked, "to": deployed.to, "when": left},
        {
            "id": "rehearse-minutes-away",
            "from": worked,
            "to": deployed.to,
            "does": (*rehearsals, refused),
            **spent,
        },
        {"id": "answer-undeployed", "when": {STAGING: "out of reach"}, **undeployed},
    )


def _page(path: str, minutes: int, strength: int) -> str:
    told = [say(NAME, "page", path=path)]
    if strength <= _PAGE:
        takes = {"deployment": str(DEPLOYMENT), "rehearsal": str(REHEARSAL)}
        told.append(say(NAME, "page-minutes", all=str(minutes), **takes))
    elif strength == _TOOLS:
        told.append(say(NAME, "page-tools"))
    return "\n".join((*told, ""))


def _tools(stamp: str, minutes: int, spare: int, strength: int) -> Iterator[DeskTool]:
    taken = Reply(after=_DEPLOYED, error=True, says=say(NAME, "taken"))
    too_few = Reply(error=True, says=say(NAME, "too-few"))
    stamped = Reply(
        marks=(_DEPLOYED,),
        says=say(NAME, "deployed", stamp=stamp),
        structured={"stamp": stamp},
    )
    left = [minutes - REHEARSAL * count for count in range(minutes // REHEARSAL + 1)]
    rehearsed = (
        Reply(
            times=1,
            marks=(_mark(count), *((_SPENT,) if count > spare else ())),
            says=say(NAME, "rehearsed", left=str(left[count])),
        )
        for count in range(1, len(left))
    )
    told = (_told(left[count], _mark(count)) for count in reversed(range(1, len(left))))
    replies = {
        "deploy": (taken, too_few.model_copy(update={"after": _SPENT}), stamped),
        "rehearse": (taken, *rehearsed, too_few),
        "building_minutes": (*told, _told(minutes, None)),
    }
    takes = {"deploy": DEPLOYMENT, "rehearse": REHEARSAL} if strength == _TOOLS else {}
    for name, each in replies.items():
        about = say(NAME, f"about-{name.rpartition('_')[2]}")
        if name in takes:
            about = say(NAME, "about-takes", about=about, minutes=str(takes[name]))
        yield DeskTool(name=name, about=about, replies=each)


def _told(left: int, mark: str | None) -> Reply:
    takes = {"deployment": str(DEPLOYMENT), "rehearsal": str(REHEARSAL)}
    return Reply(after=mark, says=say(NAME, "left", left=str(left), **takes))


def _mark(count: int) -> str:
    return f"rehearsed {count}"


def _rule(path: str, delivered: Atom) -> Fresh:
    return Fresh(
        id="deployed-last",
        template="fresh",
        a=change_desk.called("deploy"),
        since=delivered,
        before=Atom(action="final_answer"),
        reason="What is looked at on staging is what is delivered, and not what comes before it.",
        stated_in=change_desk.PAGE,
        says=say(NAME, "says", path=path),
    )


OPERATOR = Operator(
    name=NAME,
    reason="What can be had once has to be ready by then, and what tries it out is not free.",
    apply=apply,
    draws=True,
    needs=(change_desk.NAME,),
)
