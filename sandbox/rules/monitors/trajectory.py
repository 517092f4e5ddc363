"""Trajectory rules over a run, in one pass."""

from collections.abc import Iterable

from sandbox.model.event import Entry
from sandbox.model.rule import Rule
from sandbox.model.task import Task
from sandbox.rules.monitors.base import Breach, Monitor
from sandbox.rules.monitors.context import NOWHERE, Context
from sandbox.rules.monitors.watch import Watch


def monitor(rule: Rule, context: Context = NOWHERE) -> Monitor:
    """Make a rule's monitor, to be fed as a run goes on or afterwards."""
    return Monitor(rule, context)


def check(
    rules: Iterable[Rule], entries: Iterable[Entry], context: Context = NOWHERE
) -> list[Breach]:
    """Give the rules that a whole run broke, in the order in which it broke them."""
    return _over(Watch(rules, (), context), entries).breaches


def watched(task: Task, entries: Iterable[Entry]) -> Watch:
    """Watch a whole run afterwards: what a task's rules and milestones make of it."""
    return _over(Watch.of(task), entries)


def _over(watch: Watch, entries: Iterable[Entry]) -> Watch:
    for entry in entries:
        watch.feed(entry)
    watch.finish()
    return watch
