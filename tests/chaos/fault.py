"""What a fault is, and what came of many."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Outcome:
    """One fault."""

    kind: str
    seed: str
    what: str
    """What was done and what came of it, in a few words."""
    problems: tuple[str, ...] = ()
    """Promises that did not hold."""


Strike = Callable[[random.Random, Path], tuple[str, Sequence[str]]]
"""Does harm in a folder of its own; gives what was done, and what did not hold."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to do harm."""

    name: str
    strike: Strike

    def outcome(self, seed: str, place: Path) -> Outcome:
        """Do it once; the same seed does the same, as far as the machine lets it."""
        place.mkdir(parents=True)
        try:
            what, problems = self.strike(random.Random(f"{self.name}/{seed}"), place)
        except Exception as error:  # noqa: BLE001 - one that cannot be done is told, others go on
            what, problems = "could not be done", (f"{type(error).__name__}: {error}",)
        return Outcome(self.name, seed, what, tuple(problems))


def outcomes(
    kinds: Iterable[tuple[Kind, int]],
    seed: str,
    place: Path,
    at_once: int,
    tell: Callable[[Outcome], None] = lambda _: None,
) -> list[Outcome]:
    """Do each kind so many times, some at once, in a drawn order."""
    wanted = [(kind, f"{seed}/{number}") for kind, times in kinds for number in range(times)]
    random.Random(seed).shuffle(wanted)
    found = []
    with ThreadPoolExecutor(at_once) as pool:
        done = pool.map(
            lambda each: each[1][0].outcome(each[1][1], place / str(each[0])), enumerate(wanted)
        )
        for outcome in done:
            tell(outcome)
            found.append(outcome)
    return found


def table(found: Sequence[Outcome]) -> list[str]:
    """Count by kind, as Markdown."""
    tries = Counter(each.kind for each in found)
    failed = Counter(each.kind for each in found if each.problems)
    rows = [
        f"| {kind} | {count} | {count - failed[kind]} | {failed[kind]} |"
        for kind, count in sorted(tries.items())
    ]
    whole = f"| **all** | {len(found)} | {len(found) - failed.total()} | {failed.total()} |"
    return ["| fault | tries | held | failed |", "|---|---|---|---|", *rows, whole]
