"""From a task file to a task: oracle and world graph are derived from its plan."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from sandbox.model import documents
from sandbox.model.graph import Deed, Edge, Graph, State
from sandbox.model.plan import Plan, PlannedDeed, Segment, Way
from sandbox.model.statement import Statement
from sandbox.model.task import Script, ScriptedAction, Task, TaskBase, TaskFile
from sandbox.model.task_tests import RecordedTests, Tests

_Placed = tuple[PlannedDeed, int | None]
"""A deed of a segment with its place among the oracle's actions, from 1; None for an event."""


def inlined(file: TaskFile, folder: Path) -> TaskFile:
    """Put the texts of files that a task file names into their places.

    `folder` holds them, all of them there. DocumentError where one cannot be read or is wrong.
    """
    others = {
        name: documents.load(folder / script, Script).root if isinstance(script, str) else script
        for name, script in file.other_oracles.items()
    }
    known: dict[str, object] = {"tests": _tests(file.tests, folder), "other_oracles": others}
    if file.plan is not None:
        texts = {name: documents.read(folder / name) for name in files(file.plan)}
        known["plan"] = _with_texts(file.plan, texts)
    return file.model_copy(update=known)


def compiled(file: TaskFile) -> Task:
    """Derive a task from a file that names no others; what it says by hand stands."""
    common = {name: getattr(file, name) for name in TaskBase.model_fields}
    common["statements"] = (*file.statements, *_statements(file))
    common["other_oracles"] = file.other_oracles
    if file.plan is None:
        return Task(**common, oracle=file.oracle, graph=file.graph)
    return Task(
        **common, oracle=file.oracle or oracle(file.plan), graph=file.graph or graph(file.plan)
    )


def problems(file: TaskFile) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Say what is wrong with a plan as a whole, each with its place in the file."""
    if file.plan is None or file.graph is not None:
        return
    try:
        graph(file.plan)
    except ValidationError as error:
        for problem in error.errors():
            yield ("plan",), problem["msg"].removeprefix("Value error, ")


def files(plan: Plan) -> tuple[str, ...]:
    """Names of the files whose text is an argument, each once."""
    instead = (deed for way in plan.ways for deed in (*way.does, *way.instead.values()))
    return tuple(
        dict.fromkeys(name for deed in (*plan.deeds, *instead) for name in deed.files.values())
    )


def oracle(plan: Plan) -> tuple[ScriptedAction, ...]:
    """Return the actions of the segments, in order."""
    return tuple(
        ScriptedAction(action=deed.action, arguments=deed.arguments)
        for deed in plan.deeds
        if deed.action is not None
    )


def graph(plan: Plan) -> Graph:
    """Return the states that segments and ways join; ValidationError where they do not fit."""
    edges = _Edges(plan)
    states = {plan.start: State(says=plan.says)}
    for segment in plan.segments:
        states[segment.to] = State(says=segment.says, right=segment.right)
    return Graph(
        start=plan.start,
        variables=plan.variables,
        states={**states, **plan.states},
        edges=(*edges.of_segments(), *map(edges.of_way, plan.ways)),
    )


def _tests(tests: Tests, folder: Path) -> Tests:
    if tests.recorded is None:
        return tests
    told_by_cases = tests.cases is not None and tests.cases.fail_to_pass

    def tells(file: RecordedTests) -> Iterator[tuple[tuple[str, ...], str]]:
        if not file.fail_to_pass and not told_by_cases:
            yield ("fail_to_pass",), "nothing fails before the fix"

    recorded = documents.load(folder / tests.recorded, RecordedTests, tells)
    lists = {name: getattr(recorded, name) for name in RecordedTests.model_fields}
    return Tests.model_validate({**dict(tests), "recorded": None, **lists})


def _with_texts(plan: Plan, texts: Mapping[str, str]) -> Plan:
    def deed(planned: PlannedDeed) -> PlannedDeed:
        read = {name: texts[file] for name, file in planned.files.items()}
        known = {"arguments": {**planned.arguments, **read}, "files": {}}
        return planned.model_copy(update=known) if read else planned

    def part(of: Segment) -> Segment:
        return of.model_copy(update={"does": tuple(map(deed, of.does))})

    def way(of: Way) -> Way:
        instead = {label: deed(other) for label, other in of.instead.items()}
        return of.model_copy(update={"does": tuple(map(deed, of.does)), "instead": instead})

    known = {"segments": tuple(map(part, plan.segments)), "ways": tuple(map(way, plan.ways))}
    return plan.model_copy(update=known)


class _Edges:
    """Edges of a plan, whose deeds know the oracle's actions by their positions."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._placed: dict[str, tuple[_Placed, ...]] = {}
        """By segment: its deeds."""
        taken = 0
        for segment in plan.segments:
            placed = []
            for deed in segment.does:
                taken += deed.action is not None
                placed.append((deed, taken if deed.action is not None else None))
            self._placed[segment.id] = tuple(placed)
        every = (each for placed in self._placed.values() for each in placed)
        self._labelled = {deed.label: (deed, place) for deed, place in every if deed.label}

    def of_segments(self) -> Iterator[Edge]:
        origin = self._plan.start
        for segment in self._plan.segments:
            yield Edge.model_validate(
                {
                    **_shared(segment),
                    "from": (origin, *segment.also_from) if segment.also_from else origin,
                    "to": segment.to,
                    "does": tuple(_deed(*placed) for placed in self._placed[segment.id]),
                }
            )
            origin = segment.to

    def of_way(self, way: Way) -> Edge:
        told = {**_shared(way), "from": way.origin, "to": way.to}
        if way.like is None:
            return Edge.model_validate({**told, "does": tuple(map(self._done, way.does))})
        like = self._plan.segment(way.like)
        return Edge.model_validate(
            {
                **told,
                "to": way.to or like.to,
                "sets": {**like.sets, **way.sets},
                "milestone": way.milestone or like.milestone,
                "ends": way.ends or like.ends,
                "does": tuple(
                    self._done(way.instead[deed.label])
                    if deed.label in way.instead
                    else _deed(deed, place)
                    for deed, place in self._placed[like.id]
                    if deed.label not in way.without
                ),
            }
        )

    def _done(self, deed: PlannedDeed) -> Deed:
        """Return what a way does, which may be an action of the oracle again."""
        if deed.again is None:
            return _deed(deed, None)
        meant, place = self._labelled[deed.again]
        return _deed(deed if deed.told else meant, place)


def _deed(deed: PlannedDeed, position: int | None) -> Deed:
    """Return an action with its outcome, of the oracle where it has a position; or an event."""
    if deed.event is not None:
        return Deed(event=deed.event, arguments=deed.arguments)
    named = (
        {"action": deed.action, "arguments": deed.arguments}
        if position is None
        else {"oracle": position}
    )
    outcome = {"error_code": deed.error_code, "result": deed.result, "changes": deed.changes}
    return Deed.model_validate({**named, **outcome})


def _shared(part: Segment | Way) -> dict[str, object]:
    names = ("id", "when", "sets", "milestone", "kind", "ends")
    return {name: getattr(part, name) for name in names}


def _statements(file: TaskFile) -> Iterator[Statement]:
    """Join each rule with the words that tell it, where no statement does."""
    for rule in file.rules:
        fact = f"rule {rule.id}"
        known = any(one.says == rule.says and fact in one.facts for one in file.statements)
        if rule.says is not None and not known:
            yield Statement(says=rule.says, stated_in=rule.stated_in, facts=(fact,))
