"""What is asked of a product: shortest paths, shortcuts, witnesses, what cannot be reached."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from sandbox.model.task import ScriptedAction
from sandbox.rules.checker.findings import Difficulty, Finding, Witness
from sandbox.rules.checker.product import Path, Product


def names(product: Product, path: Path) -> tuple[str, ...]:
    """The edges of a path."""
    return tuple(product.world.moves[move].edge.id for move in path)


def shortest_accepted(product: Product) -> Path | None:
    """Return a shortest path that passes."""
    accepted = next((node for node in product.ends if product.accepts(node)), None)
    return None if accepted is None else product.path(accepted)


def oracle_walk(product: Product, oracle: Sequence[ScriptedAction]) -> Path | None:
    """Return the accepted path whose actions are the oracle's, all of them; None if none is."""
    actions = [move.actions for move in product.world.moves]
    script = tuple(oracle)
    before: dict[tuple[int, int], tuple[tuple[int, int], int]] = {}
    queue = [(0, 0)]
    for place in queue:
        node, done = place
        if done == len(script) and product.accepts(node):
            moves = []
            while place != (0, 0):
                place, move = before[place]
                moves.append(move)
            return tuple(reversed(moves))
        for move, target in product.arcs[node]:
            after = (target, done + len(actions[move]))
            fits = script[done : after[1]] == actions[move]
            if fits and after not in before and after != (0, 0):
                before[after] = (place, move)
                queue.append(after)
    return None


def shortcuts(product: Product) -> Iterator[Finding]:
    """Yield a shortest accepted path past each milestone that can be skipped."""
    for milestone in product.world.graph.milestones:
        through = frozenset(
            number
            for number, move in enumerate(product.world.moves)
            if move.edge.milestone == milestone
        )
        path = product.shortest(product.accepts, through)
        if path is not None:
            yield Finding(
                kind="shortcut",
                message=f"An accepted path skips the milestone {milestone}.",
                path=names(product, path),
            )


def witnesses(product: Product, rules: Sequence[str]) -> list[Witness]:
    """Say for each rule how it is broken alone, or which others are always broken with it."""
    alone: dict[int, tuple[int, bool]] = {}
    for node in product.ends:
        broken = product.verdict(node)
        right = product.right(node) is True
        if len(broken) == 1:
            (number,) = broken
            if number not in alone or (right and not alone[number][1]):
                alone[number] = (node, right)
    found = []
    for number, rule in enumerate(rules):
        if number in alone:
            node, right = alone[number]
            path = names(product, product.path(node))
            found.append(Witness(rule=rule, path=path, outcome_right=right))
        else:
            others = _in_company(product, number)
            found.append(Witness(rule=rule, implied_by=tuple(rules[other] for other in others)))
    return found


def _in_company(product: Product, rule: int) -> list[int]:
    """Give few rules of which one is always broken with a rule that is never broken alone.

    None where that is never broken. What is broken with it is looked at breach by breach: each one
    without any of the rules that were chosen so far shows where another choice has to be made.
    """
    company: list[frozenset[int]] = []
    while True:
        chosen = _always_one_of(company)
        some = product.under(rule, *chosen)
        breach = next((node for node in some.ends if some.verdict(node) == {0}), None)
        if breach is None:
            return chosen
        together, _ = product.ended(some.path(breach))
        company.append(together - {rule})


def _always_one_of(company: Sequence[frozenset[int]]) -> list[int]:
    """Give one rule that is in every set, else the fewest, greedily, that meet all of them."""
    chosen: list[int] = []
    left = list(company)
    while left:
        counts = Counter(rule for each in left for rule in each)
        best = max(sorted(counts), key=lambda rule: counts[rule])
        chosen.append(best)
        left = [each for each in left if best not in each]
    return chosen


def walk_through(product: Product, edge: str) -> Path | None:
    """Return a short path to an end that goes along an edge, if possible an accepted one."""
    arcs = _along(product, edge)
    if not arcs and _along(product.places, edge):
        product = product.whole  # more rules have to be broken on the way
        arcs = _along(product, edge)
    if not arcs:
        return None
    alive, depth = product.alive, product.depth
    node, move, target = min(
        arcs, key=lambda arc: (arc[2] not in alive, arc[0] not in alive, depth(arc[0]))
    )
    if target in alive:
        rest = product.shortest(product.accepts, start=target)
    else:
        places = product.places
        rest = places.shortest(_is_end(places), start=product.place(target))
    return None if rest is None else (*product.path(node), move, *rest)


def _along(product: Product, edge: str) -> list[tuple[int, int, int]]:
    """Give each node, move and target along an edge after which a run can end."""
    return [
        (node, move, target)
        for node, arcs in enumerate(product.arcs)
        for move, target in arcs
        if product.world.moves[move].edge.id == edge and product.can_end(target)
    ]


def _is_end(product: Product) -> Callable[[int], bool]:
    return lambda node: product.right(node) is not None


def unreachable(product: Product) -> Iterator[Finding]:
    """Yield states and edges that no run comes to."""
    visited = {state for state, _ in product.places.positions}
    for state in product.world.graph.states:
        if state not in visited:
            yield Finding(kind="unreachable", message=f"No path leads to the state {state}.")
    made = {move for arcs in product.places.arcs for move, _ in arcs}
    for number, move in enumerate(product.world.moves):
        if number not in made:
            yield Finding(
                kind="unreachable", message=f"The edge {move.edge.id} can never be taken."
            )


def dead_ends(product: Product) -> Iterator[Finding]:
    """Yield each state from which no run can be brought to an end, with a way into it."""
    told, places = set(), product.places
    for node in range(len(places)):
        state = places.positions[node][0]
        if node not in places.ending and state not in told:
            told.add(state)
            yield Finding(
                kind="dead_end",
                message=f"From the state {state} a run can come to no end.",
                path=names(places, places.path(node)),
            )


def difficulty(product: Product, shortest: Path | None, violations: int) -> Difficulty:
    """Count what makes a task hard; `violations` is how many moves break a rule."""
    only = _only_choices(product)
    return Difficulty(
        length=None if shortest is None else len(shortest),
        actions=None
        if shortest is None
        else sum(len(product.world.moves[move].actions) for move in shortest),
        branches=len(
            {
                product.places.positions[node][0]
                for node, arcs in enumerate(product.places.arcs)
                if len({move for move, _ in arcs}) > 1
            }
        ),
        violations=violations,
        short_traps=_short_traps(product, shortest),
        only_retry=only.count("retry"),
        only_fallback=only.count("fallback"),
        only_stop=only.count("stop"),
    )


def _short_traps(product: Product, shortest: Path | None) -> int:
    if shortest is None:
        return 0
    left = product.places.distances(product.places.ends)
    return len(
        {
            move
            for node in product.alive
            for move, target in product.arcs[node]
            if target not in product.alive
            and product.can_end(target)
            and product.depth(node) + 1 + left[product.place(target)] < len(shortest)
        }
    )


def _only_choices(product: Product) -> list[str]:
    """Return, for each state with only one kind of right choice somewhere, that kind."""
    found = set()
    for node in product.alive:
        kinds = set()
        for move, target in product.arcs[node]:
            if target in product.alive and target != node:
                edge = product.world.moves[move].edge
                kinds.add("stop" if edge.ends == "stop" else edge.kind)
        if len(kinds) == 1:
            found.add((product.positions[node][0], kinds.pop()))
    return [kind for _, kind in found]
