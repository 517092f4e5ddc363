"""The checker: whether a task asks for what it means to ask for, by looking at every path."""

from collections.abc import Iterator, Sequence

from sandbox.model.errors import UsageError
from sandbox.model.graph import Graph
from sandbox.model.rule import Rule
from sandbox.model.task import ScriptedAction, Task
from sandbox.rules.checker import searches
from sandbox.rules.checker.answers import answered
from sandbox.rules.checker.edge_marks import breaking, marks
from sandbox.rules.checker.findings import Finding, Report, Witness
from sandbox.rules.checker.milestones import disagreements
from sandbox.rules.checker.pattern import pattern
from sandbox.rules.checker.product import BOUND, Path, Product
from sandbox.rules.checker.watch import Watch
from sandbox.rules.checker.wording import worded
from sandbox.rules.checker.world import World
from sandbox.rules.monitors.context import NOWHERE, Context


def check(task: Task, bound: int = BOUND) -> Report:
    """Check a task; UsageError where it has no graph."""
    graph = graph_of(task)
    context = Context.of(task)
    report = check_graph(task.id, graph, task.rules, task.oracle, bound, context)
    more = tuple(disagreements(World(graph, task.oracle, context), task.milestones, context))
    words = worded(task.rules, task.policy.rules)
    findings = (*report.findings, *answered(task), *more, *words)
    return report.model_copy(update={"findings": findings, "sound": not findings})


def graph_of(task: Task) -> Graph:
    """Return a task's graph; UsageError where it has none."""
    if task.graph is None:
        raise UsageError(
            f"{task.id} has no world graph.",
            "Give its task file a `graph`; docs/world-graph.md says how.",
        )
    return task.graph


def product_of(
    graph: Graph,
    rules: Sequence[Rule],
    oracle: Sequence[ScriptedAction],
    bound: int = BOUND,
    context: Context = NOWHERE,
) -> Product:
    """Explore a graph under the hard ones of some rules."""
    watches = [Watch(rule, context) for rule in rules if rule.hard]
    return Product(World(graph, oracle, context), watches, bound)


def check_graph(
    name: str,
    graph: Graph,
    rules: Sequence[Rule],
    oracle: Sequence[ScriptedAction],
    bound: int = BOUND,
    context: Context = NOWHERE,
) -> Report:
    """Check a graph under rules; an oracle that is empty is not looked for."""
    product = product_of(graph, rules, oracle, bound, context)
    shortest = searches.shortest_accepted(product)
    walk = searches.oracle_walk(product, oracle) if oracle else None
    hard = [rule.id for rule in rules if rule.hard]
    broken = breaking(product)
    witnesses = searches.witnesses(product, hard)
    findings = [*_oracle(shortest, walk), *searches.shortcuts(product)]
    if product.complete:
        findings += _missing(shortest, walk, oracle)
        findings += _unbroken(witnesses)
        findings += searches.unreachable(product)
        findings += searches.dead_ends(product)
    else:
        findings.insert(0, _bound(product))
    return Report(
        task=name,
        sound=not findings,
        complete=product.complete,
        states=len(product),
        transitions=sum(map(len, product.arcs)),
        shortest=None if shortest is None else searches.names(product, shortest),
        oracle=None if walk is None else searches.names(product, walk),
        witnesses=tuple(witnesses),
        findings=tuple(findings),
        difficulty=searches.difficulty(product, shortest, len(broken)),
        pattern=pattern(product.world),
        marks=marks(product, broken),
        breaks={
            product.world.moves[move].edge.id: tuple(hard[rule] for rule in sorted(those))
            for move, those in sorted(broken.items())
        },
    )


def _bound(product: Product) -> Finding:
    return Finding(
        kind="bound",
        message=f"The bound of {len(product)} states was hit. What was found up to there holds;"
        " that nothing else is there is not proved. Raise it with --bound.",
    )


def _oracle(shortest: Path | None, walk: Path | None) -> Iterator[Finding]:
    if shortest is not None and walk is not None and len(walk) > len(shortest):
        message = f"The oracle takes {len(walk)} edges where {len(shortest)} are enough."
        yield Finding(kind="oracle", message=message)


def _missing(
    shortest: Path | None, walk: Path | None, oracle: Sequence[ScriptedAction]
) -> Iterator[Finding]:
    if shortest is None:
        yield Finding(kind="no_accepted_path", message="No path of the graph is accepted.")
    if oracle and walk is None:
        yield Finding(
            kind="oracle",
            message="The oracle's actions are those of no accepted path of the graph.",
        )


def _unbroken(witnesses: Sequence[Witness]) -> Iterator[Finding]:
    for witness in witnesses:
        if witness.path is None and not witness.implied_by:
            yield Finding(
                kind="never_broken",
                message=f"No path breaks the rule {witness.rule}: the graph lacks a trap for it.",
            )
