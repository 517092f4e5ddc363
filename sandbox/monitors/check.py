"""Trajectory rules over a run, in one pass."""

from collections.abc import Iterable

from sandbox.model.event import Entry
from sandbox.model.rule import Rule
from sandbox.monitors.base import Breach, Monitor
from sandbox.monitors.context import NOWHERE, Context
from sandbox.monitors.steps import everything


def monitor(rule: Rule, context: Context = NOWHERE) -> Monitor:
    """Make a rule's monitor, to be fed as a run goes on or afterwards."""
    return Monitor(rule, context)


def check(
    rules: Iterable[Rule], entries: Iterable[Entry], context: Context = NOWHERE
) -> list[Breach]:
    """Give the rules that a whole run broke, in the order in which it broke them."""
    monitors = [Monitor(rule, context) for rule in rules]
    found = []
    for step in everything(entries):
        found += [broken for each in monitors if (broken := each.feed(step)) is not None]
    return found + [broken for each in monitors if (broken := each.finish()) is not None]
