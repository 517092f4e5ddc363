"""Drawing variants of a facet and a level: what is drawn is checked before it counts."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from sandbox.model.base import Record
from sandbox.model.errors import UsageError
from sandbox.rules.checker.check import check
from sandbox.rules.checker.findings import Report
from sandbox.tasks import library
from sandbox.tasks.library import LoadedTask
from sandbox.tasks.plans import operators
from sandbox.tasks.plans.drawing import Drawing
from sandbox.tasks.plans.operators.queue import SETTLE
from sandbox.tasks.plans.variant import NUMBERS, Variant
from sandbox.tasks.suites.levels import alternatives, levels

TRIES = 60
"""Variants that are drawn at most for each that is wanted."""
STATES, STATES_OF_NAMED = 100_000, 1_000_000
"""Of a variant's graph with its rules: one that has more is not drawn, for its check takes long.
Where tasks are named there are not others to be drawn instead.
"""
SPLITS = {"train": range(6), "dev": range(6, 8), "test": range(8, 10)}
"""By split: the remainders, by ten, of the patterns that it has; none is in two."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be drawn."""

    facet: str
    level: str
    count: int
    seed: int
    operators: tuple[str, ...] = ()
    """With their strengths; every variant has these, too."""
    split: str | None = None
    tasks: tuple[str, ...] = ()
    """Of the facet; where none is named, all that are written by hand."""
    states: int = STATES
    """Of the graph of a variant, at most."""


class Generated(Record):
    """A variant, what it comes to, and how hard the checker finds it."""

    variant: str
    facet: str
    level: str
    digest: str
    """SHA-256 of the task's files and of what the variant comes to."""
    pattern: str
    """Digest of the graph but for names and order."""
    actions: int
    """Of the oracle."""
    turns: int
    """That the agent has."""
    decisions: int
    """Moves that break a rule, states with one kind of right choice alone, units of a queue."""
    added: int
    """Of the decisions: those that the task does not have without operators."""
    pushback: int
    """Steps of the shortest accepted path that the world refuses or fails."""


def generate(
    wanted: Wanted, listener: Callable[[Generated], None], known: Iterable[str] = ()
) -> list[Generated]:
    """Draw variants, of new patterns as long as there are any; `known` ones are not new.

    The same request gives the same variants on every machine. UsageError where the facet or the
    level is not known, or where fewer can be found.
    """
    tasks = _tasks(wanted)
    draw = Drawing("suite", wanted.facet, wanted.level, wanted.seed)
    found: list[Generated] = []
    spare: list[Generated] = []
    seen: set[str] = set()
    patterns = set(known)
    refused: Counter[str] = Counter()
    for _ in range(TRIES * wanted.count):
        if len(found) == wanted.count:
            break
        made = _drawn(wanted, draw, tasks, seen, refused)
        if made is None:
            continue
        seen.add(made.variant)
        if made.pattern in patterns:
            spare.append(made)
            continue
        patterns.add(made.pattern)
        found.append(made)
        listener(made)
    for made in spare[: wanted.count - len(found)]:
        found.append(made)
        listener(made)
    if len(found) < wanted.count:
        raise UsageError(
            f"Only {len(found)} of {wanted.count} variants of {wanted.facet} at {wanted.level}"
            f" were found in {TRIES * wanted.count} tries.{_reason(refused)}",
            "Ask for fewer, for another level or for other operators; those that were found are"
            " listed.",
        )
    return found


def _reason(refused: Counter[str]) -> str:
    """Say why one was refused that cannot be composed, and most others if there is one reason."""
    return "".join(f" One reason: {reason}" for reason, _ in refused.most_common(1))


@cache
def facets() -> dict[str, tuple[str, ...]]:
    """Return the tasks of each facet that has any."""
    found: dict[str, tuple[str, ...]] = {}
    for name in library.names():
        facet = library.load(name).task.facet
        found[facet] = (*found.get(facet, ()), name)
    return dict(sorted(found.items()))


def _tasks(wanted: Wanted) -> tuple[str, ...]:
    if wanted.level not in levels():
        known = f"{', '.join(levels())}"
        raise UsageError(f"There is no level {wanted.level!r}.", f"There are {known}.")
    for name, given in Variant.parse("+".join(("task", *wanted.operators))).operators:
        operators.strength_of(operators.named(name), given)
    remainders(wanted.split)
    if wanted.tasks:
        return wanted.tasks
    if wanted.facet not in facets():
        raise UsageError(
            f"No task has the facet {wanted.facet!r}.", f"There are {', '.join(facets())}."
        )
    return facets()[wanted.facet]


def remainders(split: str | None) -> range:
    """Return those of a split, all where there is none; UsageError where it is not known."""
    if split is None:
        return range(10)
    if split not in SPLITS:
        raise UsageError(f"There is no split {split!r}.", f"There are {', '.join(SPLITS)}.")
    return SPLITS[split]


def _drawn(
    wanted: Wanted,
    draw: Drawing,
    tasks: tuple[str, ...],
    seen: set[str],
    refused: Counter[str],
) -> Generated | None:
    """Draw a variant; None where it does not fit, is not new, or is not of the level.

    Why one does not fit is counted in `refused`.
    """
    level = levels()[wanted.level]
    chosen = [draw.choice(alternatives(group)) for group in level.always_in(wanted.facet)]
    taken = [group for group in level.perhaps if draw.below(2)]
    for each in [draw.choice(alternatives(group)) for group in taken]:
        if _goes_with(each, chosen):
            chosen.append(each)
    names = {each.partition(".")[0] for each in wanted.operators}
    chosen = [each for each in chosen if each.partition(".")[0] not in names]
    task, number = draw.choice(tasks), NUMBERS[0] + draw.below(len(NUMBERS))
    name = "+".join((task, *chosen, *wanted.operators))
    try:
        loaded = _loaded(name, number)
    except UsageError as error:
        refused[error.message] += 1
        return None
    if loaded.task.id in seen:
        return None
    report = check(loaded.task, wanted.states)
    if not report.sound or int(report.pattern.digest, 16) % 10 not in remainders(wanted.split):
        return None
    made = _described(loaded, report, wanted)
    least, most = level.decisions
    return made if least <= made.added <= most else None


def _goes_with(name: str, chosen: list[str]) -> bool:
    """Whether an operator has what it needs, and nothing that excludes it or is excluded by it."""
    others = [operators.named(each.partition(".")[0]) for each in chosen]
    operator, names = operators.named(name.partition(".")[0]), {each.name for each in others}
    excluded = {
        *operator.excludes,
        *(each.name for each in others if operator.name in each.excludes),
    }
    return names.issuperset(operator.needs) and not names & excluded and operator.name not in names


def _loaded(name: str, number: int) -> LoadedTask:
    """Load a variant, with a number where it draws one; UsageError where it cannot be composed."""
    if any(operators.named(each).draws for each, _ in Variant.parse(name).operators):
        name = f"{name}@{number}"
    return library.load(name)


def _described(loaded: LoadedTask, report: Report, wanted: Wanted) -> Generated:
    decisions = _decisions(report, loaded)
    return Generated(
        variant=loaded.task.id,
        facet=wanted.facet,
        level=wanted.level,
        digest=loaded.digest,
        pattern=report.pattern.digest,
        actions=len(loaded.task.oracle),
        turns=loaded.task.limits.turns,
        decisions=decisions,
        added=decisions - _decisions_of(loaded.base),
        pushback=sum(_refused(loaded, report)),
    )


@cache
def _decisions_of(task: str) -> int:
    loaded = library.load(task)
    return _decisions(check(loaded.task), loaded)


def _decisions(report: Report, loaded: LoadedTask) -> int:
    found = report.difficulty
    units = sum(action.arguments.get("tool") == SETTLE for action in loaded.task.oracle)
    return found.violations + found.only_retry + found.only_fallback + found.only_stop + units


def _refused(loaded: LoadedTask, report: Report) -> Iterator[int]:
    """Count, for each edge of the shortest path that passes, what the world does not do."""
    graph = loaded.task.graph
    edges = {edge.id: edge for edge in graph.edges} if graph else {}
    for name in report.shortest or ():
        yield sum(
            deed.error_code is not None
            or deed.result.get("is_error") is True
            or deed.result.get("approved") is False
            or deed.result.get("exit_code") not in (None, 0)
            for deed in edges[name].does
        )
