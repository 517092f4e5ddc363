"""Trajectory rules over a run, in one pass."""

from collections.abc import Callable, Iterable
from typing import Any

from sandbox.model.event import Entry
from sandbox.model.rule import Rule
from sandbox.monitors.base import Breach, Monitor
from sandbox.monitors.never import NeverMonitor
from sandbox.monitors.precedes import PrecedesMonitor
from sandbox.monitors.required import RequiredMonitor
from sandbox.monitors.steps import steps

MONITORS: dict[str, Callable[[Any], Monitor]] = {
    "required": RequiredMonitor,
    "never": NeverMonitor,
    "precedes": PrecedesMonitor,
}
"""Every template by its name; each takes its own kind of rule."""


def monitor(rule: Rule) -> Monitor:
    """Make a rule's monitor, to be fed as a run goes on or afterwards."""
    return MONITORS[rule.template](rule)


def check(rules: Iterable[Rule], entries: Iterable[Entry]) -> list[Breach]:
    """Give the rules that a whole run broke, in the order in which it broke them."""
    monitors = [monitor(rule) for rule in rules]
    found = []
    for step in steps(entries):
        found += [broken for each in monitors if (broken := each.feed(step)) is not None]
    return found + [broken for each in monitors if (broken := each.finish()) is not None]
