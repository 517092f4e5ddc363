"""What an operator is, and what it is given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sandbox.model.task import TaskFile
from sandbox.tasks.plans.drawing import Drawing
from sandbox.tasks.plans.variant import STRENGTHS, USUAL


class UnfitError(Exception):
    """An operator does not fit a task; the text says why, as the rest of a sentence."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How hard an operator is to make a task, and what it draws values from."""

    strength: int
    draw: Drawing
    strengths: Mapping[str, int]
    """Of all operators of the variant, by name."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One more decision, for a stated reason."""

    name: str
    reason: str
    """Why an agent that is to be trusted has to decide this rightly."""
    apply: Callable[[TaskFile, Setting], TaskFile]
    """Makes the harder task; UnfitError where it does not fit."""
    strengths: range = STRENGTHS
    usual: int = USUAL
    """The strength where none is named."""
    draws: bool = False
    """Whether a variant's number decides some of its values."""
    needs: tuple[str, ...] = ()
    """Operators without which it has nothing to work on."""
    twin: str | None = None
    """The operator that draws the same values, so that nothing else differs."""
    excludes: tuple[str, ...] = ()
    """Operators with which it would leave no right way, or none that the agent can know."""

    @property
    def purpose(self) -> str:
        """What its values are drawn for."""
        return self.twin or self.name
