"""`required(a)`: at least one step matches `a`. States: waiting, seen."""

from sandbox.model.rule import Required
from sandbox.monitors.atoms import described, matcher
from sandbox.monitors.base import Breach, breach
from sandbox.monitors.steps import Step


class RequiredMonitor:
    """Watches one rule."""

    def __init__(self, rule: Required) -> None:
        self._rule = rule
        self._matches = matcher(rule.a)
        self._seen = False

    def feed(self, step: Step) -> Breach | None:
        """Look at a step."""
        self._seen = self._seen or self._matches(step)
        return None

    def finish(self) -> Breach | None:
        """Break where nothing matched."""
        if self._seen:
            return None
        return breach(self._rule, None, described(self._rule.a), "no step of the run is one")
