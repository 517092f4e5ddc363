"""`precedes(a, b)`: before each step that matches `b`, one has matched `a`.

States: waiting, open (`a` was seen, all `b` are good), broken.
"""

from typing import Literal

from sandbox.model.rule import Precedes
from sandbox.monitors.atoms import described, matcher
from sandbox.monitors.base import Breach, breach
from sandbox.monitors.steps import Step


class PrecedesMonitor:
    """Watches one rule."""

    def __init__(self, rule: Precedes) -> None:
        self._rule = rule
        self._first = matcher(rule.a)
        self._second = matcher(rule.b)
        self._state: Literal["waiting", "open", "broken"] = "waiting"

    def feed(self, step: Step) -> Breach | None:
        """Break at a `b` that comes before every `a`; a step does not precede itself."""
        if self._state != "waiting":
            return None
        if self._second(step):
            self._state = "broken"
            expected = f"{described(self._rule.a)} before {described(self._rule.b)}"
            seen = f"event {step.event} ({step.name}) came without it"
            return breach(self._rule, step, expected, seen)
        if self._first(step):
            self._state = "open"
        return None

    def finish(self) -> Breach | None:
        """Nothing can be missing."""
        return None
