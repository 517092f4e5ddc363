"""Moving world: the user changes a file while the run goes on, and what stood in it counts."""

from pydantic import JsonValue

from sandbox.model.atom import Atom
from sandbox.model.final import FinalField
from sandbox.model.layer import LaidFile, Move
from sandbox.model.plan import PlannedDeed, Segment
from sandbox.model.task import ScriptedAction, TaskFile
from sandbox.tasks.plans.drawing import DIGITS, LETTERS
from sandbox.tasks.plans.operators.answers import answering
from sandbox.tasks.plans.operators.base import Operator, Setting, UnfitError
from sandbox.tasks.plans.operators.edits import (
    Actions,
    add_variable,
    add_ways,
    ask_for,
    before_answer,
    change_segment,
    changed_first,
    last_passing_run,
    more_room,
    plan_of,
    put_first,
    put_instead,
    put_last,
    right_only,
    tell,
)
from sandbox.tasks.plans.operators.wording import say
from sandbox.tasks.plans.operators.world_edits import add_users_file, commit, with_layer

NAME = "moving-world"
FILE, PAGE = "release-label.txt", "docs/releases.md"
_ALL = 3
"""Labels that stand there one after the other where the file is changed twice."""
_DOING = ("apply_patch", "write_file", "run_command", "run_tests")
FIELD, SEEN = "labels", "labels_seen"
_UNTOLD, _BY_ITSELF, _TWICE, _UNNAMED = 2, 3, 4, 5
"""The strengths from which on the file does not tell that it was changed; the file and not the
prompt says what is asked for; it changes twice; and a page says so that nothing names.
"""


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Lay the file down, change it once or twice, and ask for all that stood in it."""
    draw, strength = setting.draw, setting.strength
    count = _ALL if strength >= _TWICE else _ALL - 1
    labels = [f"{draw.text(LETTERS, 3)}-{draw.text(DIGITS, 4)}" for _ in range(count)]
    begun = plan_of(file).start
    path = changed_first(file)
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
    file = more_room(put_last(file, last), count)
    given: list[JsonValue] = [*labels]
    file = ask_for(file, FIELD, FinalField(type="list", expect=given))
    return _with_traps(file, origin, labels)


def _with_traps(file: TaskFile, origin: str, labels: list[str]) -> TaskFile:
    """Add who answers without the last look, and who did not look in between."""
    answer = plan_of(file).segments[-1]
    file = change_segment(file, answer.id, when={**answer.when, SEEN: "all"})

    def trap(name: str, start: str, known: list[str], **parts: object) -> dict[str, object]:
        does = answering(answer.does, FIELD, [*known])
        way = {"id": name, "from": start, "to": answer.to, "ends": "answer", "does": does}
        return {**way, **parts}

    early = trap("answer-with-what-was", origin, labels[:-1], sets={SEEN: "some"})
    file = add_ways(file, early)
    if len(labels) < _ALL:
        return file
    known = [labels[0], *labels[2:]]
    return add_ways(
        file, trap("answer-without-one", before_answer(file), known, when={SEEN: "some"})
    )


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
