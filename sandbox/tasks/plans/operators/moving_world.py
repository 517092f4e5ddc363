"""Moving world: the user changes a file while the run goes on, and what stood in it counts."""

from pydantic import JsonValue

from sandbox.model.atom import Atom
from sandbox.model.final import FinalField
from sandbox.model.layer import LaidFile, Move
from sandbox.model.plan import PlannedDeed, Segment
from sandbox.model.task import ScriptedAction, TaskFile
from sandbox.tasks.plans.drawing import DIGITS, LETTERS
from sandbox.tasks.plans.operators.base import Operator, Setting, UnfitError
from sandbox.tasks.plans.operators.edits import (
    Actions,
    add_users_file,
    add_variable,
    add_ways,
    ask_for,
    before_answer,
    commit,
    last_passing_run,
    more_room,
    plan_of,
    put_first,
    put_instead,
    put_last,
    right_only,
    tell,
    with_layer,
)
from sandbox.tasks.plans.operators.wording import say

NAME = "moving-world"
FILE, PAGE = "release-label.txt", "docs/releases.md"
_DOING = ("apply_patch", "write_file", "run_command", "run_tests")
FIELD, SEEN = "labels", "labels_seen"
_UNTOLD, _BY_ITSELF, _TWICE, _UNNAMED = 2, 3, 4, 5
"""The strengths from which on the file does not tell that it was changed; the file and not the
prompt says what is asked for; it changes twice; and a page says so that nothing names.
"""


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Lay the file down, change it once or twice, and ask for all that stood in it."""
    draw, strength = setting.draw, setting.strength
    count = 3 if strength >= _TWICE else 2
    labels = [f"{draw.text(LETTERS, 3)}-{draw.text(DIGITS, 4)}" for _ in range(count)]
    begun = plan_of(file).start
    path = _changed_first(file)
    laid = LaidFile(path=FILE, text=_text(labels, 0, strength))
    file = add_users_file(file, laid, say(NAME, "mine", file=FILE))
    file = tell(file, say(NAME, _asked(strength), file=FILE, field=FIELD))
    if strength >= _UNNAMED:
        page = LaidFile(path=PAGE, text=say(NAME, "page", file=FILE) + "\n")
        file = commit(file, say(NAME, "commit"), page)
    waits = (Atom(changes=path), Atom(kind="tested", exit_code=0))
    moves = (
        Move(id=f"label-{place}", after=after, files={FILE: _text(labels, place, strength)})
        for place, after in enumerate(waits[: count - 1], 1)
    )
    file = with_layer(file, moves=tuple(moves))
    file = add_variable(file, SEEN, "all", "some")
    file = right_only(file, SEEN, "all")
    first = Segment(id="see-label", to=begun, says="the first label is seen", does=(_look(),))
    file = put_first(file, first, start="label-unseen", says=plan_of(file).says)
    if strength >= _TWICE:
        file = _look_between(file)
    origin = before_answer(file)
    last = Segment(
        id="see-last-label", to="labels-seen", says="the last label is seen", does=(_look(),)
    )
    file = put_last(file, last)
    answer = plan_of(file).segments[-1].id
    trap = {"id": "answer-with-what-was", "from": origin, "like": answer, "sets": {SEEN: "some"}}
    file = more_room(add_ways(file, trap), count)
    given: list[JsonValue] = [*labels]
    return ask_for(file, FIELD, FinalField(type="list", expect=given))


def _look_between(file: TaskFile) -> TaskFile:
    """Look at it once more when the code is changed and before tests pass."""
    plan = plan_of(file)
    changing = next(one for one in plan.segments if any(deed.changes for deed in one.does))
    if last_passing_run(plan) in changing.does:
        raise UnfitError("its change and the run of its tests are one step")
    middle = "label-changed"
    changed = changing.model_copy(update={"to": middle})
    look = Segment(id="see-label-between", to=changing.to, says=changing.says, does=(_look(),))
    file = put_instead(file, changing.id, changed, look, others=_looking)
    trap = {"id": "look-elsewhere", "from": middle, "to": changing.to, "sets": {SEEN: "some"}}
    return add_ways(file, {**trap, "does": (PlannedDeed(action="git_diff"),)})


def _looking(script: Actions) -> Actions:
    """Look after each action by which files may change or tests may pass."""
    look = ScriptedAction.model_validate(_look().model_dump(include={"action", "arguments"}))
    return tuple(
        each
        for action in script
        for each in ((action, look) if action.action in _DOING else (action,))
    )


def _changed_first(file: TaskFile) -> str:
    """Return the path that the oracle's way changes first."""
    paths = (path for deed in plan_of(file).deeds for path in deed.changes)
    found = next(paths, None)
    if found is None:
        raise UnfitError("its oracle's way changes no file")
    return found


def _look() -> PlannedDeed:
    return PlannedDeed(action="read_file", arguments={"path": FILE})


def _text(labels: list[str], place: int, strength: int) -> str:
    """Return what the file holds from its change of this number on."""
    text = say(NAME, "label", label=labels[place])
    if place and strength < _UNTOLD:
        text += f"\n{say(NAME, 'until-now', label=labels[place - 1])}"
    if _BY_ITSELF <= strength < _UNNAMED:
        text += f"\n\n{say(NAME, 'often' if strength >= _TWICE else 'reported')}"
    return text + "\n"


def _asked(strength: int) -> str:
    if strength < _BY_ITSELF:
        return "prompt"
    return "prompt-far" if strength >= _UNNAMED else "prompt-file"


OPERATOR = Operator(
    name=NAME,
    reason="What was true when it was seen may not be true any more.",
    apply=apply,
    draws=True,
)
