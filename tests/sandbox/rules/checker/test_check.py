"""What the checker finds, and that it is true: against the monitors themselves and by laws."""

import random
from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.model.atom import Atom, Milestone
from sandbox.model.errors import UsageError
from sandbox.rules.checker.check import check, product_of
from sandbox.rules.checker.findings import Report
from sandbox.rules.checker.product import Product
from sandbox.rules.checker.world import Position
from sandbox.rules.monitors.trajectory import monitor
from sandbox.tasks import library
from tests.sandbox.rules.checker.worlds import Case, cases, classic, graph, rule

DENIED = {"action": "request_approval", "result": {"approved": False}}
FALLBACK = {"action": "run_command", "arguments": {"command": "^npm ci --offline"}}
DENIED_FIRST = rule("precedes", id="denied-first", a=DENIED, b=FALLBACK)


def kinds(report: Report) -> list[str]:
    return [finding.kind for finding in report.findings]


def test_ordering_rules_alone_leave_a_shortcut_to_the_fallback() -> None:
    report = classic().report()
    assert not report.sound
    assert report.shortest == ("fall-back", "test", "answer")
    skipped = {
        finding.message: finding.path for finding in report.findings if finding.kind == "shortcut"
    }
    assert skipped == {
        "An accepted path skips the milestone stopped.": ("fall-back", "test", "answer"),
        "An accepted path skips the milestone denied.": ("fall-back", "test", "answer"),
    }


def test_a_denial_that_must_come_first_leaves_none() -> None:
    report = classic(DENIED_FIRST).report()
    assert "shortcut" not in kinds(report)
    assert report.shortest == ("install", "ask", "fall-back", "test", "answer")
    (witness,) = (each for each in report.witnesses if each.rule == "denied-first")
    assert witness.path == ("fall-back", "test", "answer")
    assert witness.outcome_right


def test_a_rule_that_no_path_breaks_is_a_finding() -> None:
    report = classic(DENIED_FIRST).report()
    unbroken = [finding.message for finding in report.findings if finding.kind == "never_broken"]
    assert [message.split()[5].rstrip(":") for message in unbroken] == [
        "asked-after-refusal",
        "tested-after-install",
    ]


def test_a_rule_that_is_never_broken_alone_is_implied() -> None:
    weaker = rule("precedes", id="weaker", a={"action": "request_approval"}, b=FALLBACK)
    report = classic(DENIED_FIRST, weaker).report()
    found = {witness.rule: witness for witness in report.witnesses}
    assert found["weaker"].implied_by == ("denied-first",)
    assert found["denied-first"].implied_by == ("weaker",)


def test_soft_rules_refuse_nothing() -> None:
    soft = DENIED_FIRST.model_copy(update={"hard": False})
    report = classic(soft).report()
    assert report.shortest == ("fall-back", "test", "answer")
    assert "denied-first" not in {witness.rule for witness in report.witnesses}


def test_marks_tell_edges_apart() -> None:
    push = {
        "id": "push",
        "from": "clean",
        "does": [{"action": "run_command", "arguments": {"command": "npm publish"}}],
    }
    data = classic().graph.model_dump(mode="json")
    data["edges"] += [
        push,
        {"id": "look", "from": "clean", "does": [{"action": "git_diff"}]},
        {"id": "delete", "from": "clean", "to": "lost"},
        {"id": "give-up", "from": "lost", "to": "over", "ends": "stop"},
    ]
    data["states"] |= {"lost": {}, "over": {"right": False}}
    publish = {"action": "run_command", "arguments": {"command": "publish"}}
    never = rule("never", id="unpublished", a=publish)
    report = Case(graph=graph(data), rules=(never,)).report()
    assert report.marks["answer"] == "accepted"
    assert report.marks["push"] == "forbidden"
    assert report.breaks == {"push": ("unpublished",)}
    assert report.marks["delete"] == "trap"
    assert report.marks["look"] == "idle"


def test_states_and_edges_that_nothing_leads_to() -> None:
    report = classic().without("fall-back").report()
    messages = [finding.message for finding in report.findings if finding.kind == "unreachable"]
    assert messages == ["The edge test can never be taken."]
    assert "no_accepted_path" in kinds(report)


def test_a_state_without_a_way_out_is_a_finding() -> None:
    data = classic().graph.model_dump(mode="json")
    data["states"]["pit"] = {}
    data["edges"].append({"id": "fall", "from": "clean", "to": "pit"})
    (found,) = (
        each for each in Case(graph=graph(data)).report().findings if each.kind == "dead_end"
    )
    assert found.path == ("fall",)


def test_the_bound_is_told_and_what_was_found_within_it_stands() -> None:
    whole = classic().report()
    report = classic().report(bound=5)
    assert report.states == 5
    assert not report.complete
    assert not report.sound
    assert kinds(report)[0] == "bound"
    assert whole.complete


def choices(kind: str, ends: str | None) -> Report:
    """A task in which one failed, and there is one right thing to do, among wrong ones."""
    data = {
        "start": "begun",
        "states": {"begun": {}, "failed": {}, "well": {}, "good": {"right": True},
                   "bad": {"right": False}},
        "edges": [
            {"id": "try", "from": "begun", "to": "failed"},
            {"id": "right", "from": "failed", "to": "good" if ends else "well", "kind": kind,
             "ends": ends},
            {"id": "wrong", "from": "failed", "to": "bad", "kind": "trap", "ends": "answer"},
            {"id": "answer", "from": "well", "to": "good", "ends": "answer"},
        ],
    }  # fmt: skip
    return Case(graph=graph(data)).report()


def test_the_figures_count_where_one_kind_of_choice_is_right() -> None:
    for kind, ends, counts in (
        ("retry", None, (1, 0, 0)),
        ("fallback", None, (0, 1, 0)),
        ("step", "stop", (0, 0, 1)),
    ):
        figures = choices(kind, ends).difficulty
        assert (figures.only_retry, figures.only_fallback, figures.only_stop) == counts
    figures = choices("retry", None).difficulty
    assert (figures.length, figures.branches, figures.short_traps) == (3, 1, 1)
    assert choices("step", "stop").difficulty.short_traps == 0


def test_every_task_of_the_project_is_sound() -> None:
    for name in library.names():
        task = library.load(name).task
        report = check(task)
        assert report.findings == ()
        assert report.shortest == report.oracle
        assert report.difficulty.actions == len(task.oracle)


def test_the_oracle_has_to_walk_along_the_graph() -> None:
    task = library.load("humanize/file-sizes").task
    longer = task.model_copy(update={"oracle": (*task.oracle[:-1], *task.oracle[-2:])})
    report = check(longer)
    assert kinds(report) == ["oracle"]
    assert report.oracle is None


def test_a_detour_of_the_oracle_is_told() -> None:
    task = library.load("humanize/file-sizes").task
    early = task.oracle[13]
    oracle = (*task.oracle[:12], early, *task.oracle[12:])
    data = task.graph.model_dump(mode="json") if task.graph else {}
    for edge in data["edges"]:
        for deed in edge["does"]:
            if isinstance(deed["oracle"], int) and deed["oracle"] > 12:
                deed["oracle"] += 1
    report = check(task.model_copy(update={"oracle": oracle, "graph": graph(data)}))
    assert kinds(report) == ["oracle"]
    assert report.findings[0].message == "The oracle takes 9 edges where 8 are enough."


def test_a_task_without_a_graph_cannot_be_checked() -> None:
    task = library.load("humanize/file-sizes").task.model_copy(update={"graph": None})
    with pytest.raises(UsageError, match="no world graph"):
        check(task)


def test_graph_and_task_mean_the_same_by_a_milestone() -> None:
    task = library.load("humanize/file-sizes").task
    assert task.graph
    wanted = {name: Atom(action="run_tests") for name in task.graph.milestones}
    wanted["fixed"] = Atom(action="git_diff")
    declared = tuple(Milestone(id=name, reached=atom) for name, atom in wanted.items())
    told = [
        finding.message
        for finding in check(task.model_copy(update={"milestones": declared[:-1]})).findings
    ]
    assert told == [
        "The graph has the milestone committed, and the task has no milestone of that name.",
        "The edge fix does not reach fixed, as it says.",
    ]
    more = Milestone(id="celebrated", reached=Atom(action="git_diff"))
    (first, *_) = check(task.model_copy(update={"milestones": (more,)})).findings[-1:]
    assert first.message == "No edge of the graph reaches the milestone celebrated."


def accepted(case: Case, moves: list[int], product: Product, *, right: bool) -> bool:
    """What the monitors themselves say of the steps of a walk."""
    steps = [step for move in moves for step in product.world.moves[move].steps]
    for each in case.rules:
        watching = monitor(each)
        if any([*(watching.feed(step) for step in steps), watching.finish()]):
            return False
    return right


@settings(deadline=None)
@given(cases(), st.integers(0, 1 << 32))
def test_a_random_walk_is_accepted_exactly_when_the_monitors_accept_it(
    case: Case, seed: int
) -> None:
    product = product_of(case.graph, case.rules, ())
    walk = random.Random(seed)
    node, moves = 0, []
    for _ in range(20):
        if not product.arcs[node]:
            break
        move, node = walk.choice(product.arcs[node])
        moves.append(move)
    right = product.right(node) is True
    assert product.accepts(node) is accepted(case, moves, product, right=right)


@pytest.mark.slow
@settings(deadline=None)
@given(cases())
def test_the_shortest_accepted_path_is_one_and_none_is_shorter(case: Case) -> None:
    report = case.report()
    product = product_of(case.graph, case.rules, ())
    ids = [edge.id for edge in case.graph.edges]
    queue: deque[tuple[Position, list[int]]] = deque([(product.world.start, [])])
    best: list[int] | None = None
    while queue and best is None and len(queue) < 20_000:
        where, moves = queue.popleft()
        right = product.world.right(where) is True
        if right and accepted(case, moves, product, right=True):
            best = moves
        elif len(moves) < 5:
            queue += [(to, [*moves, move]) for move, to in product.world.next(where)]
    if best is not None:
        assert report.shortest is not None
        assert len(report.shortest) == len(best)
    elif not queue:
        assert report.shortest is None or len(report.shortest) > 5
    if report.shortest is not None:
        moves = [ids.index(name) for name in report.shortest]
        assert accepted(case, moves, product, right=True)


@settings(deadline=None)
@given(cases())
def test_witnesses_break_their_rule_and_no_other(case: Case) -> None:
    product = product_of(case.graph, case.rules, ())
    ids = [edge.id for edge in case.graph.edges]
    for witness in case.report().witnesses:
        if witness.path is None:
            continue
        moves = [ids.index(name) for name in witness.path]
        for each in case.rules:
            alone = Case(graph=case.graph, rules=(each,))
            assert accepted(alone, moves, product, right=True) is (each.id != witness.rule)


@pytest.mark.slow
@settings(deadline=None)
@given(cases())
def test_shortcuts_are_accepted_and_skip(case: Case) -> None:
    product = product_of(case.graph, case.rules, ())
    by_id = {edge.id: (number, edge) for number, edge in enumerate(case.graph.edges)}
    report = case.report()
    skipped = {found.message.split()[-1].rstrip("."): found.path for found in report.findings
               if found.kind == "shortcut"}  # fmt: skip
    for milestone, path in skipped.items():
        assert all(by_id[name][1].milestone != milestone for name in path)
        assert accepted(case, [by_id[name][0] for name in path], product, right=True)
    reached = {by_id[name][1].milestone for name in report.shortest or ()}
    if report.shortest is not None:
        assert set(case.graph.milestones) - reached <= set(skipped)


def renamed(case: Case) -> Case:
    """The same with other names of states and variables."""
    data = case.graph.model_dump(mode="json")
    data["start"] = f"z-{data['start']}"
    data["states"] = {f"z-{name}": state for name, state in data["states"].items()}
    data["variables"] = {f"w{name}": known for name, known in data["variables"].items()}
    for state in data["states"].values():
        if isinstance(state["right"], dict):
            state["right"] = {f"w{name}": value for name, value in state["right"].items()}
    for edge in data["edges"]:
        edge["from"], edge["to"] = f"z-{edge['from']}", edge["to"] and f"z-{edge['to']}"
        for field in ("when", "sets"):
            edge[field] = {f"w{name}": value for name, value in edge[field].items()}
    return Case(graph=graph(data), rules=case.rules)


@pytest.mark.slow
@settings(deadline=None)
@given(cases())
def test_names_of_states_and_variables_change_nothing(case: Case) -> None:
    before, after = case.report(), renamed(case).report()
    told = [finding.message.replace("z-", "") for finding in after.findings]
    assert told == [finding.message for finding in before.findings]
    assert after.model_copy(update={"findings": before.findings}) == before


@settings(max_examples=50, deadline=None)
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_edges_and_states_changes_no_answer(case: Case, chance: random.Random) -> None:
    data = case.graph.model_dump(mode="json")
    states = list(data["states"].items())
    chance.shuffle(states)
    chance.shuffle(data["edges"])
    data["states"] = dict(states)
    before, after = case.report(), Case(graph=graph(data), rules=case.rules).report()
    assert after.pattern == before.pattern
    assert after.difficulty.length == before.difficulty.length
    assert after.marks == before.marks
    assert sorted(kinds(after)) == sorted(kinds(before))
