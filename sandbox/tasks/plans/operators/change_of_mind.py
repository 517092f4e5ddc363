"""Change of mind: the user says something else while the run goes on, and the last word holds."""

from pydantic import JsonValue

from sandbox.model.action import AskUser
from sandbox.model.atom import Atom
from sandbox.model.final import Computed, FinalField
from sandbox.model.plan import PlannedDeed, Segment
from sandbox.model.task import TaskFile
from sandbox.model.user import User, UserAnswer, UserTurn
from sandbox.tasks.plans.drawing import DIGITS, LETTERS, Drawing
from sandbox.tasks.plans.operators.answers import answering
from sandbox.tasks.plans.operators.base import Operator, Setting, UnfitError
from sandbox.tasks.plans.operators.edits import (
    add_variable,
    add_ways,
    ask_for,
    before_answer,
    change_segment,
    changed_first,
    more_room,
    plan_of,
    put_last,
    right_only,
    tell,
)
from sandbox.tasks.plans.operators.wording import say
from sandbox.tasks.plans.operators.world_edits import with_user

NAME = "change-of-mind"
FIELD, HEARD = "reference", "reference_held"
SECOND, THIRD, WITHDRAWN, FINAL, NOT_YET = "second", "third", "withdrawn", "final", "not-yet"
WORDS = (
    *("reference", "references", "ref", "which one", "one that holds", "one holds", "holds now"),
    *("new one", "other one", "another one", "file your work", "file my work", "file it"),
)
"""By one of which a question is known to be about the reference: other questions have the word
"one" as well.
"""
_TWICE, _ASKED, _JOINED, _UNSAID = 2, 3, 4, 5
"""The strengths from which on the user speaks twice; the last word has to be asked for; it refers
to what was said before; and nothing says that it has to be asked for, and it is not there at once.
"""


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Give a reference, let the user change it, and ask for the one that holds at the end."""
    if file.user is not None:
        raise UnfitError("it has a user of its own")
    strength = setting.strength
    first, second, third = (_reference(setting.draw) for _ in range(3))
    final = f"{first.partition('-')[0]}-{third.partition('-')[2]}" if strength >= _JOINED else third
    held: dict[str, JsonValue] = {"": first}
    if strength != _ASKED:
        held[SECOND] = second
    if strength == _TWICE:
        held[THIRD] = third
    if strength >= _ASKED:
        held |= {WITHDRAWN: final, FINAL: final}
    user = User(
        answers=tuple(_answers(strength, first, second, third)),
        otherwise=say(NAME, "otherwise"),
        turns=tuple(_turns(strength, second, third, changed_first(file))),
    )
    file = with_user(tell(file, say(NAME, "prompt", field=FIELD, reference=first)), user)
    file = add_variable(file, HEARD, "yes", "no")
    file = right_only(file, HEARD, "yes")
    origin = before_answer(file)
    if strength >= _ASKED:
        asks = 2 if strength >= _UNSAID else 1
        known = Segment(
            id="ask-for-reference",
            to="reference-known",
            says="the user has said which reference holds",
            does=(_ask(),) * asks,
        )
        file = more_room(put_last(file, known), asks)
    field = FinalField(type="string", computed=Computed(latest=held))
    return _with_trap(ask_for(file, FIELD, field), origin, first)


def _turns(strength: int, second: str, third: str, path: str) -> list[UserTurn]:
    """Give what the user says unasked: after the first change, and once the tests pass."""
    turns = []
    if strength != _ASKED:
        says = say(NAME, "second", reference=second)
        turns.append(UserTurn(id=SECOND, after=Atom(changes=path), says=says, marks=(SECOND,)))
    passed = Atom(kind="tested", exit_code=0)
    if strength == _TWICE:
        says = say(NAME, "third", reference=third)
        turns.append(UserTurn(id=THIRD, after=passed, says=says, marks=(THIRD,)))
    if strength >= _ASKED:
        says = say(NAME, "withdrawn-unsaid" if strength >= _UNSAID else "withdrawn")
        turns.append(UserTurn(id=WITHDRAWN, after=passed, says=says, marks=(WITHDRAWN,)))
    return turns


def _answers(strength: int, first: str, second: str, third: str) -> list[UserAnswer]:
    """Give what the user says when asked, the latest first."""
    about = (WORDS,)
    answers = []
    if strength >= _UNSAID:
        later = say(NAME, "not-yet")
        answers.append(UserAnswer(id=NOT_YET, asked=about, after=WITHDRAWN, times=1, says=later))
    if strength >= _ASKED:
        key = "joined" if strength >= _JOINED else "is"
        digits = third.partition("-")[2]
        says = say(NAME, key, **({"digits": digits} if key == "joined" else {"reference": third}))
        answers.append(UserAnswer(id=FINAL, asked=about, after=WITHDRAWN, says=says))
    if strength == _TWICE:
        says = say(NAME, "is", reference=third)
        answers.append(UserAnswer(id="as-third", asked=about, after=THIRD, says=says))
    if strength != _ASKED:
        says = say(NAME, "is", reference=second)
        answers.append(UserAnswer(id="as-second", asked=about, after=SECOND, says=says))
    answers.append(UserAnswer(id="as-first", asked=about, says=say(NAME, "is", reference=first)))
    return answers


def _with_trap(file: TaskFile, origin: str, first: str) -> TaskFile:
    """Add who answers with the reference of the prompt."""
    answer = plan_of(file).segments[-1]
    file = change_segment(file, answer.id, when={**answer.when, HEARD: "yes"})
    trap = {"id": "answer-with-the-first-reference", "from": origin, "to": answer.to}
    does = answering(answer.does, FIELD, first)
    return add_ways(file, {**trap, "ends": "answer", "does": does, "sets": {HEARD: "no"}})


def _ask() -> PlannedDeed:
    return PlannedDeed(action=AskUser.name, arguments={"question": say(NAME, "question")})


def _reference(draw: Drawing) -> str:
    return f"{draw.text(LETTERS, 3).upper()}-{draw.text(DIGITS, 4)}"


OPERATOR = Operator(
    name=NAME,
    reason="The last word of whoever gave the task holds, whenever it is said.",
    apply=apply,
    draws=True,
)
