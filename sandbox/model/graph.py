"""The world graph of a task: what can happen in it, small enough to be searched.

`docs/world-graph.md` says how one is written.
"""

from collections.abc import Iterator
from typing import Literal, Self

from pydantic import ConfigDict, Field, JsonValue, model_validator

from sandbox.model.base import Record
from sandbox.model.observation import ErrorCode

EventKind = Literal[
    "exec",
    "approval_asked",
    "approval_decided",
    "fault_injected",
    "changed",
    "tested",
    "committed",
    "ref_moved",
    "stashed",
    "refused",
    "user_said",
]
NAME = r"^[a-z0-9][a-z0-9-]*$"

Value = bool | int | str
Condition = dict[str, Value | tuple[Value, ...]]
"""By variable: the value, or the values, that it must have."""


def choices(wanted: Value | tuple[Value, ...]) -> tuple[Value, ...]:
    """The values that a condition names for one variable."""
    return wanted if isinstance(wanted, tuple) else (wanted,)


class Deed(Record):
    """Actions of an agent and what the world answers, or what else happens: the monitors' view."""

    oracle: int | tuple[int, int] | None = None
    """Which of the oracle's actions, counted from 1: one, or from the first to the last."""
    action: str | None = None
    """Another action in full."""
    event: EventKind | None = None
    """Something that happens in the action which follows; no action by itself."""
    arguments: dict[str, JsonValue] = {}
    """Of the action; of an event its fields."""
    error_code: ErrorCode | None = None
    """None where the action is carried out."""
    result: dict[str, JsonValue] = {}
    """Fields of the result that a rule looks at."""
    changes: tuple[str, ...] = ()
    """Paths that an editing action writes."""

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        if [self.oracle, self.action, self.event].count(None) != 2:
            raise ValueError("give one of `oracle`, `action` and `event`")
        if self.oracle is not None and self.arguments:
            raise ValueError("`arguments` go with `action`; those of the oracle are its own")
        told = self.error_code is not None or self.result or self.changes
        if told and (isinstance(self.oracle, tuple) or self.event is not None):
            raise ValueError("an outcome goes with a single action")
        return self

    def positions(self) -> range:
        """Which of the oracle's actions, counted from 0; none where the action stands here."""
        if self.oracle is None:
            return range(0)
        first, last = (self.oracle, self.oracle) if isinstance(self.oracle, int) else self.oracle
        return range(first - 1, last)


class Edge(Record):
    """Something that an agent may do, from some states to another one."""

    model_config = ConfigDict(serialize_by_alias=True)

    id: str = Field(pattern=NAME)
    origin: str | tuple[str, ...] = Field(alias="from")
    """A state, or several."""
    to: str | None = None
    """The state that it leads to; the one it comes from where this is left out."""
    does: tuple[Deed, ...] = ()
    when: Condition = {}
    """Where it can be taken, besides being in the right state."""
    sets: dict[str, Value] = {}
    milestone: str | None = None
    """What has been reached with it; several edges may name the same."""
    kind: Literal["step", "retry", "fallback", "trap"] = "step"
    """Drawn, and counted in the figures; what is accepted does not depend on it."""
    ends: Literal["answer", "stop"] | None = None
    """Whether the run is over: by an answer that claims success, or by giving up."""

    @property
    def origins(self) -> tuple[str, ...]:
        """All states that it comes from."""
        return (self.origin,) if isinstance(self.origin, str) else self.origin


class State(Record):
    """A place in the world: what has been done, and what the agent can know."""

    says: str = ""
    """What holds there, in a few words."""
    right: bool | Condition | None = None
    """Of a state where a run ends: whether tests, collateral and final answer pass there."""


class Graph(Record):
    """States, and edges between them. Variables hold what would double the states."""

    start: str
    variables: dict[str, tuple[Value, ...]] = {}
    """By name: the values that it can have, of which it has the first at the start."""
    states: dict[str, State] = Field(min_length=1)
    edges: tuple[Edge, ...] = Field(min_length=1)

    @property
    def milestones(self) -> tuple[str, ...]:
        """All milestones, in the order of the edges that reach them."""
        return tuple(dict.fromkeys(edge.milestone for edge in self.edges if edge.milestone))

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        problems = [*self._state_problems(), *self._variable_problems()]
        seen: set[str] = set()
        for edge in self.edges:
            problems += [f"edge {edge.id} occurs twice"] if edge.id in seen else []
            seen.add(edge.id)
        if problems:
            raise ValueError("; ".join(problems))
        return self

    def _state_problems(self) -> Iterator[str]:
        if self.start not in self.states:
            yield f"there is no state {self.start}"
        over = {name for name, state in self.states.items() if state.right is not None}
        for edge in self.edges:
            targets = (edge.to,) if edge.to else edge.origins
            for name in dict.fromkeys((*edge.origins, *targets)):
                if name not in self.states:
                    yield f"edge {edge.id}: there is no state {name}"
            if edge.ends and not over.issuperset(targets):
                yield f"edge {edge.id} ends, but {edge.to or 'its state'} does not say `right`"
            if not edge.ends and over.intersection(targets):
                yield f"edge {edge.id} leads to an end, but does not say `ends`"
            for name in over.intersection(edge.origins):
                yield f"edge {edge.id} leaves {name}, where a run is over"

    def _variable_problems(self) -> Iterator[str]:
        for name, known in self.variables.items():
            if not known:
                yield f"variable {name} has no value"
            if len(set(known)) < len(known):
                yield f"variable {name} has a value twice; 1 and true are one here"
        for where, condition in self._conditions():
            for name, wanted in condition.items():
                known = self.variables.get(name, ())
                if not known:
                    yield f"{where}: there is no variable {name}"
                    continue
                for value in choices(wanted):
                    if not any(type(value) is type(one) and value == one for one in known):
                        yield f"{where}: {name} is never {value!r}"

    def _conditions(self) -> Iterator[tuple[str, Condition]]:
        for edge in self.edges:
            yield f"edge {edge.id}", edge.when
            yield f"edge {edge.id}", {**edge.sets}
        for name, state in self.states.items():
            if isinstance(state.right, dict):
                yield f"state {name}", state.right
