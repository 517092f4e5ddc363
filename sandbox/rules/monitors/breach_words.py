"""How a breach is told: what was expected, what was missing, why, and where it is stated."""

from dataclasses import dataclass
from typing import TypeAlias

from sandbox.model.rule import (
    AtMost,
    Derived,
    Fresh,
    Never,
    NeverAfter,
    Precedes,
    Required,
    Responds,
    RuleBase,
)
from sandbox.rules.monitors.atom_words import described
from sandbox.rules.monitors.steps import Step

Culprit: TypeAlias = tuple[str, ...] | int | None
"""The values for which a rule broke, none where a step carries none; how many were too many."""


@dataclass(frozen=True, slots=True)
class Wording:
    """One breach of one rule."""

    rule: RuleBase
    step: Step | None
    """None where the run's end is the breach."""
    culprit: Culprit = None
    undecided: str = ""
    """Why the step could not be judged; empty where it was."""

    @property
    def message(self) -> str:
        """The whole of it, in a sentence or two."""
        rule = self.rule
        return (
            f"{rule.id}: expected {self.expected}; {self.missing}."
            f" {rule.reason} (stated in {rule.stated_in})"
        )

    @property
    def expected(self) -> str:
        """What holds where the rule does."""
        match self.rule:
            case Required(a=a):
                return described(a)
            case Never(a=a):
                return f"never {described(a)}"
            case NeverAfter(a=a, b=b):
                return f"never {described(b)} after {described(a)}"
            case Precedes(a=a, b=b):
                return f"{described(a)} before {described(b)}"
            case Fresh(a=a, since=since, before=before):
                return (
                    f"{described(a)}, since the last {described(since)}, before {described(before)}"
                )
            case Responds(a=a, b=b):
                return f"{described(b)} after each {described(a)}"
            case AtMost(a=a, n=n):
                return f"at most {n} times {described(a)}"
            case Derived(x=x, source=source, target=target):
                return f"{described(target)} to carry a value of {x} from {described(source)}"
        raise TypeError(f"no wording for {type(self.rule).__name__}")

    @property
    def missing(self) -> str:
        """What was seen in its place."""
        if self.undecided:
            return f"it cannot be told whether it holds: {self.undecided}"
        if isinstance(self.culprit, int):
            return f"it has more than {self.culprit} values, which cannot be followed"
        if self.step is None:
            end = "no step of the run is one"
            if isinstance(self.rule, Responds):
                end = "the run ended without it"
            return end + self._values
        seen = f"event {self.step.event} ({self.step.name})"
        match self.rule:
            case Never():
                return f"{seen} is one"
            case AtMost():
                return f"{seen} is one more{self._values}"
            case NeverAfter():
                return f"{seen} came after it{self._values}"
            case Derived(x=x) if not self.culprit:
                return f"{seen} carries no {x}"
        return f"{seen} came without it{self._values}"

    @property
    def _values(self) -> str:
        if not isinstance(self.culprit, tuple) or not self.culprit:
            return ""
        pairs = zip(self.rule.variables, self.culprit, strict=True)
        return " for " + ", ".join(f"{name} = {value[:80]!r}" for name, value in pairs)
