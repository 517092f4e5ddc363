"""Ways are followed until two rules are broken, and that is enough: the same as all there is."""

from hypothesis import given, settings

from sandbox.rules.checker import searches
from sandbox.rules.checker.check import product_of
from sandbox.rules.checker.edge_marks import breaking, fatal, marks
from sandbox.rules.checker.product import Product
from tests.sandbox.rules.checker.worlds import Case, cases, graph, rule


def arcs_that_break(whole: Product) -> dict[int, frozenset[int]]:
    """Say for each fatal move that could still come right what all right ends after it break."""
    right = {node: whole.verdict(node) for node in whole.ends if whole.right(node)}
    found: dict[int, set[int]] = {}
    for move, target in fatal(whole):
        after = [broken for node, broken in right.items() if target in whole.distances([node])]
        if after:
            found.setdefault(move, set()).update(frozenset.intersection(*after))
    return {move: frozenset(rules) for move, rules in found.items()}


@settings(deadline=None)
@given(cases())
def test_it_says_what_every_combination_of_broken_rules_would_say(case: Case) -> None:
    product = product_of(case.graph, case.rules, ())
    whole = product.whole
    assert len(product) <= len(whole)
    assert breaking(product) == arcs_that_break(whole)
    assert marks(product, breaking(product)) == marks(whole, breaking(product))
    assert searches.shortest_accepted(product) == searches.shortest_accepted(whole)
    assert [*searches.shortcuts(product)] == [*searches.shortcuts(whole)]
    shortest = searches.shortest_accepted(whole)
    assert searches.difficulty(product, shortest, 0) == searches.difficulty(whole, shortest, 0)


@settings(deadline=None)
@given(cases())
def test_a_rule_is_broken_alone_or_in_company_as_it_is_in_all_there_is(case: Case) -> None:
    product = product_of(case.graph, case.rules, ())
    whole = product.whole
    names = [rule.id for rule in case.rules]
    broken = {whole.verdict(node) for node in whole.ends}
    for number, witness in enumerate(searches.witnesses(product, names)):
        together = {each for each in broken if number in each}
        alone = frozenset({number}) in together
        assert (witness.path is not None) is alone
        if not alone:
            others = {names.index(name) for name in witness.implied_by}
            assert all(others & each for each in together)
            assert bool(others) is bool(together)


@settings(deadline=None)
@given(cases())
def test_each_edge_that_a_run_can_take_is_walked_through(case: Case) -> None:
    product = product_of(case.graph, case.rules, ())
    for edge in case.graph.edges:
        path, other = (searches.walk_through(each, edge.id) for each in (product, product.whole))
        assert (path is None) is (other is None)
        if path is not None and other is not None:
            assert product.world.graph.edges[path[-1]].ends
            assert product.ended(path)[0] == frozenset() or product.ended(other)[0]


def test_an_edge_behind_two_broken_rules_is_walked_through() -> None:
    def never(name: str) -> dict[str, object]:
        return {"action": "run_command", "arguments": {"command": name}}

    steps = [("a", "b", "one"), ("b", "c", "two"), ("c", "d", "three")]
    world = graph(
        {
            "start": "a",
            "states": {"a": {}, "b": {}, "c": {}, "d": {}, "end": {"right": True}},
            "edges": [
                *(
                    {"id": does, "from": at, "to": to, "does": [never(does)]}
                    for at, to, does in steps
                ),
                {"id": "answer", "from": ["a", "d"], "to": "end", "ends": "answer"},
            ],
        }
    )
    rules = tuple(rule("never", id=f"no-{name}", a=never(f"^{name}$")) for name in ("one", "two"))
    product = product_of(world, rules, ())
    path = searches.walk_through(product, "three")
    assert path == (0, 1, 2, 3)
    assert product.ended(path) == (frozenset({0, 1}), True)
    assert len(product) < len(product.whole)
