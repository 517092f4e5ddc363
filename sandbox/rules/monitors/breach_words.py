"""How a breach is told: the task's own sentence, what happened instead, what a rule looks for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from sandbox.model.atom import Atom
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
from sandbox.rules.monitors.step_words import happened
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
    last: Mapping[int, Step] = field(default_factory=dict)
    """The last step that matched each atom of the rule, by its place, before this one."""
    sentence: str = ""
    """The words by which the task tells the agent of it; empty where no statement does."""

    @property
    def message(self) -> str:
        """The whole of it: first for a person, then for who has written the rule."""
        rule = self.rule
        said = f"“{self.sentence}” {rule.reason}" if self.sentence else rule.reason
        return (
            f"{said} (stated in {rule.stated_in}) {_begun(self.happened)}. "
            f"The rule {rule.id} expects {self.expected}."
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
                last = _bare(described(since))
                return f"{described(a)}, since the last {last}, before {described(before)}"
            case Responds(a=a, b=b):
                return f"{described(b)} after each {_bare(described(a))}"
            case AtMost(a=a, n=n):
                return f"at most {n} times {described(a)}"
            case Derived(x=x, source=source, target=target):
                return f"{described(target)} to carry a value of {x} from {described(source)}"
        raise TypeError(f"no wording for {type(self.rule).__name__}")

    @property
    def happened(self) -> str:
        """What was seen in its place, with the events to look at."""
        if self.undecided:
            return f"it cannot be told whether it holds: {self.undecided}"
        if isinstance(self.culprit, int):
            return f"it has more than {self.culprit} values, which cannot be followed"
        if self.step is None:
            end = "it never happened in this run"
            if isinstance(self.rule, Responds):
                end = "the run ended without what has to follow"
            return end + self._values
        seen = happened(self.step)
        match self.rule:
            case Never():
                return seen
            case AtMost(n=n):
                return f"{seen}, which is once more than {n}{self._values}"
            case NeverAfter(a=a):
                before = self.last.get(0)
                since = described(a) if before is None else happened(before)
                return f"{seen}, after this: {since}{self._values}"
            case Fresh(a=a):
                return f"{seen}{self._values}; {self._stale(a)}"
            case Derived(x=x) if not self.culprit:
                return f"{seen}, with no {x}"
            case Derived(source=source):
                values = self._values.replace(" for ", " with ", 1)
                return f"{seen}{values}; no earlier {_bare(described(source))} gave that value"
            case Precedes(a=a):
                return f"{seen}{self._values}; before that there was no {_bare(described(a))}"
        return seen + self._values

    def _stale(self, a: Atom) -> str:
        """Say how far the rule's first atom is out of date."""
        done, spoilt = self.last.get(0), self.last.get(1)
        if done is None:
            return f"before that there was no {_bare(described(a))}"
        if spoilt is None or spoilt.event < done.event:
            return f"{happened(done)}, but not on what was there then"
        return f"the last time before was when {happened(done)}, and since then {happened(spoilt)}"

    @property
    def _values(self) -> str:
        if not isinstance(self.culprit, tuple) or not self.culprit:
            return ""
        pairs = zip(self.rule.variables, self.culprit, strict=True)
        return " for " + ", ".join(f"{name} = {value[:80]!r}" for name, value in pairs)


def _bare(text: str) -> str:
    return text.removeprefix("a ").removeprefix("an ")


def _begun(text: str) -> str:
    """Begin a sentence, whose first word keeps its letters where it is a path or a name."""
    return text[:1].upper() + text[1:] if text.partition(" ")[0].isalpha() else text
