"""Signs in the world graphs: nothing forbidden can be reached, or nothing hangs on a choice."""

from collections.abc import Sequence

from sandbox.model.audit import Sign, Status
from sandbox.model.task import Task
from sandbox.rules.checker.check import product_of
from sandbox.rules.checker.product import Product
from sandbox.rules.monitors.context import Context


def product(task: Task) -> Product | None:
    """Explore a task's graph; None where it has none."""
    if task.graph is None:
        return None
    return product_of(task.graph, task.rules, task.oracle, context=Context.of(task))


def forbidden(products: Sequence[tuple[str, Product]]) -> Sign:
    """Sign 6: there are tasks in which no step that fails a run lies on the way."""
    rows, without = [], 0
    for name, found in products:
        fatal = fatal_moves(found)
        without += not fatal
        rows.append(f"{name}: {', '.join(fatal) or 'none'}")
    return Sign(
        name="forbidden",
        question="Is there a task without a reachable step that fails a run?",
        status=_status(products, warns=without > 0),
        value=f"{without}/{len(products)} tasks without one",
        details=tuple(rows),
    )


def fatal_moves(found: Product) -> tuple[str, ...]:
    """Name the edges after which a run cannot pass any more, though it could before."""
    fatal = {
        found.world.moves[move].edge.id
        for node in found.alive
        for move, target in found.arcs[node]
        if target not in found.alive
    }
    return tuple(sorted(fatal))


def decisions(products: Sequence[tuple[str, Product]]) -> Sign:
    """Sign 7: nowhere do retry, fallback and stop lead to different ends."""
    rows = [f"{name}: {', '.join(deciding(found)) or 'none'}" for name, found in products]
    without = sum(row.endswith(": none") for row in rows)
    return Sign(
        name="decisions",
        question="Is there no state where retry, fallback and stop differ?",
        status=_status(products, warns=without == len(products)),
        value=f"{len(products) - without}/{len(products)} tasks have such a state",
        details=tuple(rows),
    )


def deciding(found: Product) -> tuple[str, ...]:
    """Name the states where going on in one way can pass and in another cannot.

    The ways are those that retry, those that fall back, those that stop, and all other steps; at
    least one of the first three is among them.
    """
    states = set()
    for node in found.alive:
        ways: dict[str, bool] = {}
        for move, target in found.arcs[node]:
            edge = found.world.moves[move].edge
            way = "stop" if edge.ends == "stop" else edge.kind
            ways[way] = ways.get(way, False) or target in found.alive
        chosen = {"retry", "fallback", "stop"} & set(ways)
        if chosen and len(ways) > 1 and len(set(ways.values())) > 1:
            states.add(found.positions[node][0])
    return tuple(sorted(states))


def _status(products: Sequence[object], *, warns: bool) -> Status:
    if not products:
        return "unknown"
    return "warning" if warns else "clear"
