"""A graph's pattern: what is left of it without names, arguments and order.

The graph is unfolded: a position is a state with the values of the variables. Colours are refined
until they tell apart what they can (Weisfeiler and Leman, on arcs with labels, both ways); what
then is still alike is told apart by trying each candidate, and the smallest description wins
(McKay's individualisation). The digest is the same for two graphs exactly when one is the other
under other names, unless there is too much symmetry to try it all or the graph is large; then it
is the digest of the refinement, and says so.
"""

import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sandbox.rules.checker.findings import Pattern
from sandbox.rules.checker.world import Move, Position, World

TRIALS = 500
"""Refinements that are made before symmetry is given up on."""

LARGE, ROUNDS = 2_000, 8
"""Positions from which on a graph is only refined, and how often."""

Colours = tuple[int, ...]
Neighbours = tuple[tuple[int, int], ...]
Arcs = tuple[int, ...]
Key = TypeVar("Key", str, tuple[int, Arcs, Arcs])


@dataclass(frozen=True, slots=True)
class _Shape:
    """Positions as numbers, 0 being the start, and labelled arcs between them."""

    labels: Sequence[str]
    """What the numbers of labels stand for, in order."""
    kinds: tuple[str, ...]
    out: tuple[Neighbours, ...]
    into: tuple[Neighbours, ...]


def pattern(world: World) -> Pattern:
    """Return the digest of a graph's pattern."""
    shape = _unfolded(world)
    large = len(shape.kinds) > LARGE
    colours = _refined(shape, _ranked(shape.kinds), ROUNDS if large else None)
    trials = _Trials()
    best = None if large else min(_descriptions(shape, colours, trials), default=None)
    exact = best is not None and trials.made <= TRIALS
    if not exact:
        best = _coarse(shape, colours)
    digest = hashlib.sha256(json.dumps([exact, best]).encode()).hexdigest()
    return Pattern(digest=digest, exact=exact)


def _label(move: Move) -> str:
    """What an edge is but for its name: kinds of actions and how they end, not their arguments.

    How many files are changed at once is one of these.
    """
    edge = move.edge
    ends = ((step.name, step.observation and step.observation.error_code) for step in move.steps)
    deeds = [
        end
        for end, same in itertools.groupby(ends)
        for _ in (range(1) if end[0] == "changed" else same)
    ]
    return json.dumps([edge.kind, edge.ends, edge.milestone is not None, deeds])


def _unfolded(world: World) -> _Shape:
    texts = [_label(move) for move in world.moves]
    numbers: dict[Position, int] = {world.start: 0}
    queue = [world.start]
    arcs: list[set[tuple[str, int]]] = []
    for position in queue:
        leaving = set()
        for move, after in world.next(position):
            if after not in numbers:
                numbers[after] = len(queue)
                queue.append(after)
            leaving.add((texts[move], numbers[after]))
        arcs.append(leaving)
    labels = sorted({text for leaving in arcs for text, _ in leaving})
    number_of = {text: number for number, text in enumerate(labels)}
    out = [tuple(sorted((number_of[text], to) for text, to in leaving)) for leaving in arcs]
    into: list[list[tuple[int, int]]] = [[] for _ in queue]
    for source, pairs in enumerate(out):
        for label, target in pairs:
            into[target].append((label, source))
    kinds = tuple(f"{number == 0} {world.right(where)}" for number, where in enumerate(queue))
    return _Shape(labels, kinds, tuple(out), tuple(map(tuple, into)))


def _ranked(keys: Sequence[Key]) -> Colours:
    """Number the distinct keys in their own order, which no name has a part in."""
    order = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return tuple(order[key] for key in keys)


def _refined(shape: _Shape, colours: Colours, rounds: int | None = None) -> Colours:
    """Split colours by those of the neighbours until nothing changes, or so many times."""
    wide = 2 * len(colours)  # more than any colour: a label and a colour are one number
    for _ in range(len(colours) if rounds is None else rounds):
        members = Counter(colours)
        finer = _ranked(
            [
                (
                    colour,
                    tuple(sorted([label * wide + colours[to] for label, to in shape.out[number]])),
                    tuple(sorted([label * wide + colours[to] for label, to in shape.into[number]])),
                )
                if members[colour] > 1
                else (colour, (), ())  # nothing is left to tell it apart from
                for number, colour in enumerate(colours)
            ]
        )
        if len(set(finer)) == len(set(colours)):
            return finer
        colours = finer
    return colours


class _Trials:
    made = 0


def _descriptions(shape: _Shape, colours: Colours, trials: _Trials) -> Iterator[str]:
    """Yield a description for each way of telling apart what is alike, but for the same again."""
    trials.made += 1
    if trials.made > TRIALS:
        return
    members: dict[int, list[int]] = {}
    for number, colour in enumerate(colours):
        members.setdefault(colour, []).append(number)
    alike = next((members[colour] for colour in sorted(members) if len(members[colour]) > 1), None)
    if alike is None:
        yield _written(shape, colours)
        return
    known: set[str] = set()
    for chosen in alike:
        apart = tuple(
            2 * colour + (number != chosen and colour == colours[chosen])
            for number, colour in enumerate(colours)
        )
        found = _descriptions(shape, _refined(shape, apart), trials)
        first = next(found, None)
        if first is None or first in known:
            continue  # an automorphism leads to one that was chosen before: so does all else
        for text in itertools.chain((first,), found):
            known.add(text)
            yield text


def _written(shape: _Shape, colours: Colours) -> str:
    """Write the graph with colours, each of which one position has, for names."""
    order = sorted(range(len(colours)), key=lambda number: colours[number])
    rank = {number: place for place, number in enumerate(order)}
    rows = [
        [shape.kinds[number], sorted((label, rank[to]) for label, to in shape.out[number])]
        for number in order
    ]
    return json.dumps([shape.labels, rows])


def _coarse(shape: _Shape, colours: Colours) -> str:
    rows = [
        [
            colour,
            shape.kinds[number],
            sorted((label, colours[to]) for label, to in shape.out[number]),
        ]
        for number, colour in enumerate(colours)
    ]
    return json.dumps([shape.labels, sorted(rows, key=json.dumps)])
