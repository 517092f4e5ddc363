"""Progress: the weight of the milestones that are reached, of all. A peak hides undone work."""

from collections.abc import Iterable
from dataclasses import dataclass

from sandbox.model.atom import Milestone
from sandbox.model.errors import UndecidedError
from sandbox.rules.monitors.atoms import Matcher, matcher
from sandbox.rules.monitors.context import NOWHERE, Context
from sandbox.rules.monitors.steps import Step

Reached = frozenset[str]
"""The milestones that are reached; a value, like a monitor's state."""


@dataclass(frozen=True, slots=True)
class Passing:
    """A milestone that a step reached, or undid."""

    milestone: str
    reached: bool
    progress: float
    """After the step."""


class Progress:
    """Follows the milestones of one run."""

    def __init__(self, milestones: Iterable[Milestone], context: Context = NOWHERE) -> None:
        self._weights = {each.id: each.weight for each in milestones}
        self._matchers = tuple(
            (
                each.id,
                matcher(each.reached, context),
                None if each.undone is None else matcher(each.undone, context),
            )
            for each in milestones
        )
        self.state: Reached = frozenset()
        """Where it is; may be kept and set again."""
        self.peak = 0.0
        """The most that was ever done."""

    @property
    def final(self) -> float:
        """What is done now."""
        return self.share(self.state)

    def share(self, reached: Reached) -> float:
        """Give the share of the weight, from 0 to 1; 0 for a task without milestones."""
        whole = sum(self._weights.values())
        done = sum(weight for name, weight in self._weights.items() if name in reached)
        return done / whole if whole else 0.0

    def advance(self, reached: Reached, step: Step) -> Reached:
        """Give what is reached after a step; one that reaches and undoes has undone."""
        for name, reaches, undoes in self._matchers:
            if name in reached:
                if _holds(undoes, step, undecided=True):
                    reached -= {name}
            elif _holds(reaches, step) and not _holds(undoes, step, undecided=True):
                reached |= {name}
        return reached

    def feed(self, step: Step) -> tuple[Passing, ...]:
        """Take the next step."""
        before = self.state
        after = self.state = self.advance(before, step)
        if after == before:
            return ()
        self.peak = max(self.peak, self.final)
        return tuple(
            Passing(name, name in after, self.final)
            for name in self._weights
            if (name in after) != (name in before)
        )


def _holds(atom: Matcher | None, step: Step, *, undecided: bool = False) -> bool:
    """Whether a step matches an atom, if there is one; what cannot be told is no progress."""
    try:
        return atom is not None and atom(step)
    except UndecidedError:
        return undecided
