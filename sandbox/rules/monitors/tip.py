"""What was checked out each time when a rule of the kind `fresh` since a commit was made fresh."""

from sandbox.model.atom import Atom
from sandbox.model.rule import Fresh, RuleBase
from sandbox.rules.monitors.atoms import Pattern
from sandbox.rules.monitors.steps import Step
from sandbox.rules.monitors.templates import FRESH, START


class Tip:
    """Commits are compared, not times.

    A branch may be put on a commit that stood elsewhere before, and nobody commits by that: what is
    delivered then is another than what was tested or closed. One that is put back is the same.
    """

    def __init__(self, refreshes: Pattern) -> None:
        self._refreshes = refreshes
        self._now: str | None = None
        """None as long as it is as at the start."""
        self._covered: set[str | None] = set()

    @staticmethod
    def decides(rule: RuleBase) -> bool:
        """Whether any commit spoils a rule."""
        return isinstance(rule, Fresh) and rule.since == Atom(kind="committed")

    def judged(self, state: int, step: Step) -> int:
        """Give the state after a step, where the automaton came to `state`."""
        tip = step.arguments.get("tip") if step.kind == "ref_moved" else None
        if isinstance(tip, str):
            self._now = tip
            return FRESH if self._now in self._covered else START
        if self._refreshes.matches(step):
            self._covered.add(self._now)
        return state
