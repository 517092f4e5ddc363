"""Whether a step matches an atom, and which values it gives to variables."""

from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import product
from typing import TypeAlias

from pydantic import JsonValue

from sandbox.model.atom import FACTS, Atom, Predicate, StepKind, source, sources
from sandbox.model.glob import Globs
from sandbox.model.patterns import Expression, expression
from sandbox.rules.monitors import argv, covered_tests, paths_read
from sandbox.rules.monitors.atom_words import described
from sandbox.rules.monitors.context import NOWHERE, Context
from sandbox.rules.monitors.steps import Step
from sandbox.rules.monitors.values import ABSENT, equal, found, tester, text
from sandbox.rules.monitors.variables import filled

__all__ = ["Binding", "Matcher", "Pattern", "described", "equal", "matcher"]

Matcher: TypeAlias = Callable[[Step], bool]
Binding: TypeAlias = tuple[str, ...]
"""A value for each variable of a rule, in the order of their names."""

FILLED = 1024
"""Atoms with values in place of their variables that are kept compiled."""


class Pattern:
    """An atom of a rule with the given variables, compiled."""

    def __init__(
        self, atom: Atom, variables: Sequence[str] = (), context: Context = NOWHERE
    ) -> None:
        self._atom, self._variables, self._context = atom, tuple(variables), context
        self.binds = bool(atom.bind)
        self.uses = bool(atom.uses & set(variables))
        self.matches = _shared(atom.model_dump_json(exclude_unset=True), context)
        """Whether a step matches, whatever the values are."""
        self._sources = tuple(_source(atom.bind[name]) for name in variables if atom.bind)
        self._filled: dict[Binding, Matcher] = {}

    def may_match(self, step: Step) -> bool:
        """Whether a step like this one can match, by its kind, its name and whether it wrote."""
        atom = self._atom
        if not _is_of_kind(step, atom.about):
            return False
        if atom.action is not None and not self.uses and not _named(atom.action)(step):
            return False
        if (atom.changes is not None or atom.owner is not None) and not step.changes:
            return False
        commands = atom.argv is not None or atom.tests is not None
        return not commands or step.kind != "action" or step.name in ("run_command", "run_tests")

    def bindings(self, step: Step) -> tuple[Binding, ...]:
        """Give the values that a step gives to the variables; none where it does not match."""
        if not self.matches(step):
            return ()
        return tuple(product(*(each(step) for each in self._sources)))

    def holds(self, step: Step, values: Binding) -> bool:
        """Whether a step matches with these values in place of the variables."""
        if values not in self._filled:
            if len(self._filled) >= FILLED:
                self._filled.clear()
            given = dict(zip(self._variables, values, strict=True))
            self._filled[values] = matcher(filled(self._atom, given), self._context)
        return self._filled[values](step)


@lru_cache(maxsize=512)
def _shared(atom: str, context: Context) -> Matcher:
    """Compile an atom once for all rules that have it, and ask it once for each step."""
    parsed = Atom.model_validate_json(atom)
    kind, checks = parsed.about, tuple(_checks(parsed, context))
    last: tuple[Step | None, bool] = (None, False)

    def remembered(step: Step) -> bool:
        nonlocal last
        known, answer = last
        if known is step:
            return answer
        answer = _is_of_kind(step, kind)
        for check in checks:  # plain, since this runs for every step and rule
            if not answer:
                break
            answer = check(step)
        last = (step, answer)
        return answer

    return remembered


def matcher(atom: Atom, context: Context = NOWHERE) -> Matcher:
    """Compile an atom without variables."""
    kind, checks = atom.about, tuple(_checks(atom, context))
    return lambda step: _is_of_kind(step, kind) and all(check(step) for check in checks)


def _is_of_kind(step: Step, kind: StepKind) -> bool:
    """Whether a step is what an atom is about; in a trace without facts actions stand for them."""
    return step.kind == kind or (step.bare and kind in FACTS)


def _checks(atom: Atom, context: Context) -> Iterator[Matcher]:
    """Give what an atom asks for, cheapest first."""
    if (action := atom.action) is not None:
        yield _named(action)
    if (status := atom.status) is not None:
        yield lambda step: step.observation is not None and step.observation.status == status
    if (code := atom.error_code) is not None:
        yield _refused(code)
    if atom.exit_code is not None:
        yield _exited(atom.exit_code)
    for name, value in atom.result.items():
        yield _result(name, value)
    for name, wanted in atom.where.items():
        yield _predicate(source(name)[0], wanted)
    for name, pattern in atom.arguments.items():
        yield _argument(name, expression(pattern))
    if atom.changes is not None or atom.owner is not None:
        yield _changes(atom, context)
    if atom.reads is not None:
        yield paths_read.matcher(Globs((atom.reads,)), context)
    if atom.argv is not None:
        yield argv.matcher(atom.argv, context)
    if atom.tests is not None:
        yield covered_tests.matcher(atom.tests, context)


def _named(pattern: str) -> Matcher:
    if any(mark in pattern for mark in "*?["):
        return lambda step: fnmatchcase(step.name, pattern)
    return lambda step: step.name == pattern


def _refused(code: str) -> Matcher:
    def refused(step: Step) -> bool:
        given = step.observation.error_code if step.observation else None
        return given is not None and fnmatchcase(given, code)

    return refused


def _exited(code: int) -> Matcher:
    by_result = _result("exit_code", code)
    return lambda step: (
        by_result(step) if step.kind == "action" else step.arguments.get("exit_code") == code
    )


def _result(name: str, wanted: JsonValue) -> Matcher:
    kind = type(wanted)

    def matches(step: Step) -> bool:
        if step.observation is None:
            return False
        value = step.observation.result.get(name, ABSENT)
        return type(value) is kind and equal(value, wanted)

    return matches


def _predicate(field: tuple[str, ...], wanted: Predicate) -> Matcher:
    holds = tester(wanted)
    return lambda step: holds(found(step, field))


def _argument(name: str, pattern: Expression) -> Matcher:
    search = pattern.search
    return lambda step: name in step.arguments and search(text(step.arguments[name])) is not None


def _changes(atom: Atom, context: Context) -> Matcher:
    """One path has to be of the glob and of the owner."""
    match = Globs(atom.changed).match if atom.changes is not None else lambda _: True
    owner = atom.owner

    def changes(step: Step) -> bool:
        return bool(step.changes) and any(
            match(path) and (owner is None or context.owner(path) == owner) for path in step.changes
        )

    return changes


def _source(wanted: str) -> Callable[[Step], tuple[str, ...]]:
    """Compile where a variable's values come from; each value once."""
    readers = [_reader(field, pattern) for field, pattern in sources(wanted)]
    return lambda step: tuple(dict.fromkeys(value for each in readers for value in each(step)))


def _reader(field: tuple[str, ...], pattern: str | None) -> Callable[[Step], list[str]]:
    wanted_parts = None if pattern is None else expression(pattern).parts

    def values(step: Step) -> list[str]:
        if field == ("changes",):
            given = list(step.changes)
        else:
            value = found(step, field)
            several = wanted_parts is None and isinstance(value, list)
            given = [] if value is ABSENT else list(map(text, value if several else [value]))
        if wanted_parts is not None:
            given = [part for each in given for part in wanted_parts(each)]
        return given

    return values
