"""Edits of a task file that operators share; each returns a new file."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from pydantic import JsonValue

from sandbox.model.atom import Atom, Milestone
from sandbox.model.final import TRUE_VALUE, FinalField
from sandbox.model.graph import Condition, State, Value
from sandbox.model.plan import Plan, PlannedDeed, Segment, Way
from sandbox.model.rule import Rule
from sandbox.model.task import ScriptedAction, TaskFile
from sandbox.tasks.plans.operators.base import UnfitError

Actions = tuple[ScriptedAction, ...]


def plan_of(file: TaskFile) -> Plan:
    """Return the plan of a task; UnfitError where part of what it derives is written by hand."""
    if file.plan is None or file.graph is not None or file.oracle:
        raise UnfitError("it is written by hand, not as a plan")
    return file.plan


def scripts(file: TaskFile) -> dict[str, Actions]:
    """Return the other oracles of a file that names no others."""
    return {name: each for name, each in file.other_oracles.items() if not isinstance(each, str)}


def last_passing_run(plan: Plan) -> PlannedDeed:
    """Return the last run of tests on the oracle's way that passes; UnfitError without one."""
    for deed in reversed(plan.deeds):
        if deed.action == "run_tests" and deed.result.get("exit_code") == 0:
            return deed
    raise UnfitError("no run of tests passes on its oracle's way")


def more_room(file: TaskFile, actions: int) -> TaskFile:
    """Leave room for so many more actions: three times as many turns, and 20 seconds for each."""
    limits = file.limits
    known = {"turns": limits.turns + 3 * actions, "seconds": limits.seconds + 20 * actions}
    return with_parts(file, limits=limits.model_copy(update=known))


def bound_output(file: TaskFile, most: int) -> TaskFile:
    """Let the agent be shown so many bytes at most."""
    most = min(most, file.limits.output_bytes)
    return with_parts(file, limits=file.limits.model_copy(update={"output_bytes": most}))


def tell(file: TaskFile, sentence: str) -> TaskFile:
    """Put a paragraph at the end of the prompt."""
    return with_parts(file, prompt=f"{file.prompt.rstrip()}\n\n{sentence.strip()}\n")


def add_rules(file: TaskFile, *rules: Rule) -> TaskFile:
    """Add rules behind those that there are."""
    return with_parts(file, rules=(*file.rules, *rules))


def drop(file: TaskFile, *names: str) -> TaskFile:
    """Take rules and milestones away."""
    return with_parts(
        file,
        rules=tuple(rule for rule in file.rules if rule.id not in names),
        milestones=tuple(each for each in file.milestones if each.id not in names),
    )


def add_milestones(file: TaskFile, **reached: Atom) -> TaskFile:
    """Add milestones, of which plans speak by these names, `_` read as a hyphen."""
    made = (Milestone(id=name.replace("_", "-"), reached=atom) for name, atom in reached.items())
    return with_parts(file, milestones=(*file.milestones, *made))


def add_ways(file: TaskFile, *ways: Mapping[str, object]) -> TaskFile:
    """Add ways, as a plan writes them."""
    made = (Way.model_validate(way) for way in ways)
    return _with_plan(file, ways=(*plan_of(file).ways, *made))


def change_way(file: TaskFile, name: str, **parts: object) -> TaskFile:
    """Give parts of a way other values."""
    changed = (
        way.model_copy(update=parts) if way.id == name else way for way in plan_of(file).ways
    )
    return _with_plan(file, ways=tuple(changed))


def add_variable(file: TaskFile, name: str, *values: Value) -> TaskFile:
    """Add a variable of the graph, which has the first value at the start; UnfitError."""
    if name in plan_of(file).variables:
        raise UnfitError(f"its plan has a variable {name} of its own")
    return _with_plan(file, variables={**plan_of(file).variables, name: values})


def put_first(file: TaskFile, segment: Segment, *, start: str, says: str) -> TaskFile:
    """Put a segment before all known ways: from a new start to where they began until now."""
    plan = plan_of(file)
    led = segment.model_copy(update={"to": plan.start})
    file = _with_plan(file, start=start, says=says, segments=(led, *plan.segments))
    return _with_scripts(file, lambda script: (*_actions(segment.does), *script))


def put_last(file: TaskFile, segment: Segment) -> TaskFile:
    """Put a segment before the answer of each known way.

    Who has another answer from there, because something was missed before, has it behind the
    segment as well: else nothing could follow it.
    """
    plan = plan_of(file)
    *before, answer = plan.segments
    if answer.ends != "answer" or not before:
        raise UnfitError("its oracle's way does not end with an answer alone")
    ways = tuple(_also_from(way, before[-1].to, segment.to) for way in plan.ways)
    file = _with_plan(file, segments=(*before, segment, answer), ways=ways)
    return _with_scripts(file, lambda script: (*script[:-1], *_actions(segment.does), script[-1]))


def put_instead(
    file: TaskFile,
    name: str,
    *segments: Segment,
    others: Callable[[Actions], Actions] | None = None,
) -> TaskFile:
    """Put segments in the place of one, on each known way that does what it does.

    The last of them leads to where that one led. `others` changes the other oracles, which may do
    it in other words.
    """
    plan = plan_of(file)
    old = plan.segment(name)
    *first, last = segments
    new = (*first, last.model_copy(update={"to": old.to}))
    place = plan.segments.index(old)
    known = (*plan.segments[:place], *new, *plan.segments[place + 1 :])
    does = [deed for segment in new for deed in segment.does]
    was, now = _actions(old.does), _actions(does)
    file = _with_plan(file, segments=known)
    return _with_scripts(file, others or (lambda script: _replaced(script, was, now)))


def put_before(file: TaskFile, name: str, label: str, *deeds: PlannedDeed) -> TaskFile:
    """Have a segment, and the other oracles with it, do more before one of its deeds."""
    old = plan_of(file).segment(name)
    place = [deed.label for deed in old.does].index(label)
    does = (*old.does[:place], *deeds, *old.does[place:])
    return put_instead(file, name, old.model_copy(update={"does": does}))


def before(file: TaskFile, name: str) -> str:
    """Return the state from which the oracle does a segment."""
    plan = plan_of(file)
    states = (plan.start, *(segment.to for segment in plan.segments))
    return states[[segment.id for segment in plan.segments].index(name)]


def change_segment(file: TaskFile, name: str, **parts: object) -> TaskFile:
    """Give parts of a segment other values."""
    changed = (
        one.model_copy(update=parts) if one.id == name else one for one in plan_of(file).segments
    )
    return _with_plan(file, segments=tuple(changed))


def before_answer(file: TaskFile) -> str:
    """Return the state from which the oracle answers."""
    return plan_of(file).segments[-2].to


def origin_of(file: TaskFile, deed: PlannedDeed) -> str:
    """Return the state before the segment that a deed is in."""
    segments = plan_of(file).segments
    return before(file, next(segment.id for segment in segments if deed in segment.does))


def expand(file: TaskFile, change: Callable[[PlannedDeed], tuple[PlannedDeed, ...]]) -> TaskFile:
    """Put several deeds in the place of one, wherever it is done."""
    plan = plan_of(file)

    def many(deeds: Iterable[PlannedDeed]) -> tuple[PlannedDeed, ...]:
        return tuple(new for deed in deeds for new in change(deed))

    segments = (one.model_copy(update={"does": many(one.does)}) for one in plan.segments)
    ways = (one.model_copy(update={"does": many(one.does)}) for one in plan.ways)
    file = _with_plan(file, segments=tuple(segments), ways=tuple(ways))

    def script(actions: Actions) -> Actions:
        return _actions(many(PlannedDeed.model_validate(dict(each)) for each in actions))

    return _with_scripts(file, script)


def map_actions(
    file: TaskFile, change: Callable[[str, dict[str, JsonValue]], dict[str, JsonValue]]
) -> TaskFile:
    """Give each action of every known way and trap the arguments that `change` makes of it."""

    def deed(planned: PlannedDeed) -> PlannedDeed:
        if planned.action is None:
            return planned
        known = {"arguments": change(planned.action, planned.arguments)}
        return planned.model_copy(update=known)

    def way(one: Way) -> Way:
        instead = {label: deed(each) for label, each in one.instead.items()}
        return one.model_copy(update={"does": tuple(map(deed, one.does)), "instead": instead})

    def segment(one: Segment) -> Segment:
        return one.model_copy(update={"does": tuple(map(deed, one.does))})

    def script(actions: Actions) -> Actions:
        return tuple(
            each.model_copy(update={"arguments": change(each.action, each.arguments)})
            for each in actions
        )

    plan = plan_of(file)
    file = _with_plan(
        file, segments=tuple(map(segment, plan.segments)), ways=tuple(map(way, plan.ways))
    )
    return _with_scripts(file, script)


def ask_for(file: TaskFile, name: str, field: FinalField) -> TaskFile:
    """Ask for one more field of the final answer, which every known way gives."""

    def answered(action: str, arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
        fields = arguments.get("fields")
        if action != "final_answer" or not isinstance(fields, dict):
            return arguments
        said = TRUE_VALUE if field.computed is not None else field.expect
        return {**arguments, "fields": {**fields, name: said}}

    return map_actions(with_parts(file, final={**file.final, name: field}), answered)


def right_only(file: TaskFile, name: str, value: Value) -> TaskFile:
    """Have no outcome be right but where a variable has a value."""
    plan = plan_of(file)

    def condition(right: bool | Condition | None) -> bool | Condition | None:  # noqa: FBT001
        if right is True:
            return {name: value}
        return {**right, name: value} if isinstance(right, dict) else right

    segments = (one.model_copy(update={"right": condition(one.right)}) for one in plan.segments)
    states = {
        state: known.model_copy(update={"right": condition(known.right)})
        for state, known in plan.states.items()
    }
    return _with_plan(file, segments=tuple(segments), states=states)


def add_wrong_end(file: TaskFile, name: str, says: str) -> TaskFile:
    """Add a state in which a run ends and is not right."""
    states = {**plan_of(file).states, name: State(says=says, right=False)}
    return _with_plan(file, states=states)


def changed_first(file: TaskFile) -> str:
    """Return the path that the oracle's way changes first."""
    found = next((path for deed in plan_of(file).deeds for path in deed.changes), None)
    if found is None:
        raise UnfitError("its oracle's way changes no file")
    return found


def _also_from(way: Way, known: str, other: str) -> Way:
    origins = (way.origin,) if isinstance(way.origin, str) else way.origin
    if way.ends != "answer" or not way.when or known not in origins:
        return way
    return way.model_copy(update={"origin": (*origins, other)})


def with_parts(file: TaskFile, **parts: object) -> TaskFile:
    """Give parts of a file other values."""
    return file.model_copy(update=parts)


def _with_plan(file: TaskFile, **parts: object) -> TaskFile:
    plan = plan_of(file).model_copy(update=parts)
    return with_parts(file, plan=Plan.model_validate(dict(plan)))


def _with_scripts(file: TaskFile, change: Callable[[Actions], Actions]) -> TaskFile:
    changed = {name: change(each) for name, each in scripts(file).items()}
    return with_parts(file, other_oracles=changed)


def _actions(deeds: Iterable[PlannedDeed]) -> Actions:
    return tuple(
        ScriptedAction(action=deed.action, arguments=deed.arguments)
        for deed in deeds
        if deed.action is not None
    )


def _replaced(script: Actions, was: Sequence[ScriptedAction], now: Actions) -> Actions:
    """Put actions in the place of others, which stand once in a script, one behind the other."""
    for place in range(len(script)):
        if script[place : place + len(was)] == was:
            return (*script[:place], *now, *script[place + len(was) :])
    raise UnfitError("another oracle of it does not do what is to be replaced")
