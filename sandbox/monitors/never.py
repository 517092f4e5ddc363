"""`never(a)`: no step matches `a`. States: good, broken."""

from sandbox.model.rule import Never
from sandbox.monitors.atoms import described, matcher
from sandbox.monitors.base import Breach, breach
from sandbox.monitors.steps import Step


class NeverMonitor:
    """Watches one rule."""

    def __init__(self, rule: Never) -> None:
        self._rule = rule
        self._matches = matcher(rule.a)
        self._broken = False

    def feed(self, step: Step) -> Breach | None:
        """Break at the first step that matches."""
        if self._broken or not self._matches(step):
            return None
        self._broken = True
        seen = f"event {step.event} ({step.name}) is one"
        return breach(self._rule, step, f"never {described(self._rule.a)}", seen)

    def finish(self) -> Breach | None:
        """Nothing can be missing."""
        return None
