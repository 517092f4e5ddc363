"""What each edge leads to: on to a pass, into a broken rule, or astray."""

from collections.abc import Mapping

from sandbox.rules.checker.findings import Mark
from sandbox.rules.checker.product import Product


def fatal(product: Product) -> list[tuple[int, int]]:
    """Return each move after which no run can pass any more, and where it leads."""
    return [
        (move, target)
        for node in sorted(product.alive)
        for move, target in product.arcs[node]
        if target not in product.alive
    ]


def breaking(product: Product) -> dict[int, frozenset[int]]:
    """Return the moves after which only a broken rule refuses the run, and which rules those are.

    A rule is broken by a move where every right outcome after it breaks the rule.
    """
    lost = [arc for arc in fatal(product) if product.hopeful(arc[1])]
    found: dict[int, set[int]] = {move: set() for move, _ in lost}
    for rule in range(len(product.watches)):
        for move, target in lost:
            if not product.spares(rule, target):
                found[move].add(rule)
    return {move: frozenset(rules) for move, rules in found.items()}


def marks(product: Product, broken: Mapping[int, frozenset[int]]) -> dict[str, Mark]:
    """Tell edges apart, by the moves that break rules.

    What a path that passes goes along is accepted, whatever else it does.
    """
    passing = {
        move
        for node in product.alive
        for move, target in product.arcs[node]
        if target in product.alive and target != node
    }
    astray = {move for move, _ in fatal(product)}
    found: dict[str, Mark] = {}
    for number, move in enumerate(product.world.moves):
        if number in passing:
            found[move.edge.id] = "accepted"
        elif number in broken:
            found[move.edge.id] = "forbidden"
        else:
            trap = number in astray or move.edge.kind == "trap"
            found[move.edge.id] = "trap" if trap else "idle"
    return found
