"""Files that a task's rules and milestones speak of, and those that are closed."""

from collections.abc import Iterator

from sandbox.model.atom import Atom
from sandbox.model.glob import Globs
from sandbox.model.rule import Never, NeverAfter, Precedes
from sandbox.model.task import Task


def atoms(task: Task) -> list[Atom]:
    """Give every pattern over what happens that a task has."""
    milestones = (atom for one in task.milestones for atom in (one.reached, one.undone) if atom)
    awaited = [move.after for move in task.world.layer.moves]
    awaited += [turn.after for turn in task.user.turns] if task.user else []
    return [*(atom for rule in task.rules for atom in rule.atoms), *milestones, *awaited]


def wanted(task: Task) -> Globs:
    """Give the files that are to be read, or not to be."""
    return Globs(atom.reads for atom in atoms(task) if atom.reads is not None)


def closed(task: Task) -> Globs:
    """Give those of which rules forbid it, for good or until something else is done."""
    return Globs(atom.reads for atom in _forbidden(task) if atom.reads is not None)


def _forbidden(task: Task) -> Iterator[Atom]:
    for rule in task.rules:
        if isinstance(rule, Never):
            yield rule.a
        elif isinstance(rule, Precedes | NeverAfter):
            yield rule.b
