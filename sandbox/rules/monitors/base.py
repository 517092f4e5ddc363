"""A monitor: a rule's automaton, one for each value of the rule's variables.

A state is a value: it can be compared, hashed, kept and set again, and `advance` is a pure
function of it. A monitor that is fed only keeps the state for its caller.
"""

from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from sandbox.model.errors import UndecidedError
from sandbox.model.rule import Derived, Fresh, NeverAfter, RuleBase
from sandbox.rules.monitors.atoms import Binding, Pattern
from sandbox.rules.monitors.breach_words import Culprit, Wording
from sandbox.rules.monitors.context import NOWHERE, Context
from sandbox.rules.monitors.steps import Step
from sandbox.rules.monitors.templates import BROKEN, START, automaton
from sandbox.rules.monitors.tip import Tip
from sandbox.rules.monitors.tree import Patterns, Tree

Known: TypeAlias = tuple[tuple[Binding, int], ...]
"""The states of single values, sorted."""

Slices: TypeAlias = tuple[int, Known]
"""The state for values that were not seen yet, and that of each value where it differs."""

State: TypeAlias = int | Slices
"""Of a rule without variables an `int`. A broken rule is `BROKEN` in any case."""

VALUES = 256
"""Values of its variables that a rule can follow at once; with more it counts as broken."""


@dataclass(frozen=True, slots=True)
class Breach:
    """A rule that was broken."""

    rule: str
    event: int | None
    """The sequence number of the action that broke it; None where something never happened."""
    message: str
    """For a person: what the agent was told, what happened instead, what the rule looks for."""
    hard: bool = True


class Monitor:
    """Watches one rule over the steps of one run. It speaks once and is silent from then on."""

    def __init__(self, rule: RuleBase, context: Context = NOWHERE, sentence: str = "") -> None:
        """Compile a rule; `sentence` is what the task tells the agent of it."""
        self.rule, self._sentence = rule, sentence
        self._automaton = automaton(rule)
        self._patterns = tuple(
            (1 << place, Pattern(atom, rule.variables, context))
            for place, atom in enumerate(rule.atoms)
        )
        self._uses = any(pattern.uses for _, pattern in self._patterns)
        self._tree = Tree(rule, self._patterns, context) if isinstance(rule, Fresh) else None
        self._tip = Tip(self._patterns[0][1]) if Tip.decides(rule) else None
        self._last: dict[int, Step] = {}
        self.state: State = (START, ()) if rule.variables else START
        """Where it is; may be kept and set again."""

    def heeding(self, step: Step) -> Patterns:
        """Give the patterns that a step of this kind and name can match; the same for all such."""
        return tuple((bit, pattern) for bit, pattern in self._patterns if pattern.may_match(step))

    def follows(self, step: Step) -> bool:
        """Whether a step that matches no pattern has to be fed all the same."""
        return self._tip is not None and step.kind == "ref_moved"

    def feed(self, step: Step, among: Patterns | None = None) -> Breach | None:
        """Take the next step; give the breach that it is. `among` is what `heeding` gave."""
        before = self.state
        if before == BROKEN:
            return None
        if self._tree is not None and isinstance(before, int):
            before = self._tree.foreseen(before, step)
        after = self.advance(before, step, among)
        if self._tree is not None and isinstance(after, int) and after != BROKEN:
            after = self._tree.judged(after, step)
        if self._tip is not None and isinstance(after, int) and after != BROKEN:
            after = self._tip.judged(after, step)
        self.state = after
        if after == BROKEN:
            return self.explain(before, step)
        self._remember(step, among)
        return None

    def finish(self) -> Breach | None:
        """Say that no further step comes; give the breach that this is."""
        return self.explain(self.state, None) if self.unfinished(self.state) else None

    def advance(self, state: State, step: Step, among: Patterns | None = None) -> State:
        """Give the state after a step; one that cannot be judged breaks the rule."""
        try:
            return self._advance(state, step, among)
        except UndecidedError:
            return BROKEN

    def _advance(self, state: State, step: Step, among: Patterns | None = None) -> State:
        if not isinstance(state, int):
            return self._slices(state, step)[0]
        if state == BROKEN:
            return state
        seen, heeded = 0, self._automaton.heeds[state > START]
        for bit, pattern in self._patterns if among is None else among:
            if bit & heeded and pattern.matches(step):
                seen |= bit
        return self._automaton.advance(state, seen) if seen else state

    def unfinished(self, state: State) -> bool:
        """Whether a run that ends in this state breaks the rule by that."""
        return bool(self._owed(state))

    def explain(self, state: State, step: Step | None) -> Breach:
        """Word the breach that a step, or the end of the run, is in a state."""
        culprit: Culprit = None
        undecided = ""
        try:
            if step is None:
                culprit = self._owed(state)[0]
            elif isinstance(state, int):
                self._advance(state, step)
            else:
                culprit = self._slices(state, step)[1]
        except UndecidedError as error:
            undecided = error.message
        wording = Wording(self.rule, step, culprit, undecided, self._last, self._sentence)
        return Breach(
            self.rule.id,
            None if step is None else step.event,
            wording.message,
            self.rule.hard,
        )

    def _remember(self, step: Step, among: Patterns | None) -> None:
        """Keep the last step of each atom, where a breach is told by what came before it."""
        if not isinstance(self.rule, Fresh | NeverAfter) or self.rule.variables:
            return
        for place, (bit, pattern) in enumerate(self._patterns):
            if among is None or any(bit == one for one, _ in among):
                with suppress(UndecidedError):
                    if pattern.matches(step):
                        self._last[place] = step

    def _owed(self, state: State) -> tuple[Culprit, ...]:
        """Values for which something is missing; None stands for a rule without any."""
        unfinished = self._automaton.unfinished
        if isinstance(state, int):
            return (None,) if state == unfinished else ()
        return tuple(values for values, each in state[1] if each == unfinished)

    def _slices(self, state: Slices, step: Step) -> tuple[State, Culprit]:
        """Advance every value's automaton; say which one broke.

        A rule over a variable is one automaton for each value that the variable has had. All other
        values are in the default state, so that only those that differ are kept. A step may match
        for some values (`single`) or for every value there could be (`everywhere`); the latter
        moves the default along with all that are known.
        """
        default, known = state
        if self._carries_nothing(step):
            return BROKEN, ()
        everywhere, single = self._seen(known, step)
        if not everywhere and not single:
            return state, None
        rest = self._automaton.advance(default, everywhere)
        states = dict(known)
        for values in {**states, **single} if everywhere else single:
            seen = everywhere | single.get(values, 0)
            states[values] = after = self._automaton.advance(states.get(values, default), seen)
            if after == BROKEN:
                return BROKEN, values
            if after == rest and not self._uses:
                del states[values]
        if rest == BROKEN or len(states) > VALUES:
            return BROKEN, None if rest == BROKEN else VALUES
        same = rest == default and states == dict(known)
        return state if same else (rest, tuple(sorted(states.items()))), None

    def _carries_nothing(self, step: Step) -> bool:
        """Whether a step lacks the value that `derived` looks at; what is left out is not right."""
        if not isinstance(self.rule, Derived):
            return False
        target = self._patterns[1][1]
        return target.matches(step) and not target.bindings(step)

    def _seen(self, known: Known, step: Step) -> tuple[int, dict[Binding, int]]:
        """Bits of the atoms that a step matches: whatever the value is, and by value."""
        everywhere, single = 0, defaultdict[Binding, int](int)
        for bit, pattern in self._patterns:
            if pattern.binds:
                for values in pattern.bindings(step):
                    single[values] |= bit
            elif pattern.uses:
                for values, _ in known:
                    if pattern.holds(step, values):
                        single[values] |= bit
            elif pattern.matches(step):
                everywhere |= bit
        return everywhere, single
