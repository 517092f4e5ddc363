"""Account: what the answer, each commit and a report have to say of the run."""

import pytest

from sandbox.model.final import by_facts, left_to_facts, same_but_for_facts
from sandbox.run.validate.facts import stated
from sandbox.tasks import library
from sandbox.tasks.plans.operators.account import REPORT

COMMITTED = ("humanize/ticket-c57d2651", "humanize/approved-c57d2651", "cjson/planes")


@pytest.mark.parametrize("name", COMMITTED)
def test_where_the_work_is_committed_each_known_way_says_what_was_done(name: str) -> None:
    task = library.load(f"{name}+account.5").task
    assert list(task.trailers) == ["Tests-Run"]
    assert {path: list(lines) for path, lines in task.reports.items()} == {REPORT: ["Exit-Codes"]}
    for script in (task.oracle, *task.other_oracles.values()):
        lines = [str(each.arguments.get("command")) for each in script]
        committing = [each for each in lines if "git commit" in each]
        assert committing
        assert all(left_to_facts("Tests-Run") in each for each in committing)
        assert all(left_to_facts("Exit-Codes") in each for each in committing)


def test_weaker_ones_ask_for_less() -> None:
    two, three, four = (library.load(f"{COMMITTED[0]}+account.{n}").task for n in (2, 3, 4))
    assert [list(task.trailers) for task in (two, three, four)] == [
        [],
        ["Tests-Run"],
        ["Tests-Run"],
    ]
    assert not any(task.reports for task in (two, three, four))


def test_without_commits_the_answer_alone_says_it() -> None:
    task = library.load("humanize/bare-8a348be4+account.5").task
    assert not task.trailers
    assert not task.reports
    assert "read_in_order" in task.final


def test_each_unit_of_a_queue_is_told_with_what_was_done_of_it() -> None:
    name = "humanize/file-sizes+change-desk.1+queue.2+check-digits.3+account"
    weaker, stronger = (library.load(f"{name}.{n}@7").task for n in (3, 4))
    assert "settled_codes" not in weaker.final
    assert "`settled_codes` (list)" in stronger.prompt
    computed = stronger.final["settled_codes"].computed
    assert computed is not None
    assert computed.listed is not None
    trace = [entry for entry in stronger.oracle if entry.arguments.get("tool") == "settle_ticket"]
    assert len(trace) == 6
    without = library.load("humanize/file-sizes+change-desk.1+account.5@7").task
    assert "settled_codes" not in without.final


@pytest.mark.parametrize("name", COMMITTED)
def test_all_that_is_graded_is_stated(name: str) -> None:
    task = library.load(f"{name}+account.5").task
    own = {f"must {REPORT}", "trailer Tests-Run", f"report {REPORT} Exit-Codes"}
    found = {each.fact: each.problems for each in stated(task, lambda _: None) if each.fact in own}
    assert found == dict.fromkeys(own, ())


def test_what_is_refused_writes_no_report() -> None:
    graph = library.load(f"{COMMITTED[0]}+account.5").task.graph
    assert graph is not None
    writing = {edge.id for edge in graph.edges if any(REPORT in one.changes for one in edge.does)}
    assert writing >= {"commit-untruly", "commit-everything"}
    assert "skip-hooks" not in writing


def test_a_script_leaves_to_the_facts_what_it_names_and_nothing_else() -> None:
    text = f"a {left_to_facts('Tests-Run')} {{true value}} {left_to_facts('Exit-Codes')}"
    filled = by_facts(text, {"Tests-Run": 2, "Exit-Codes": [1, 0]})
    assert filled == "a 2 {true value} 1, 0"
    assert same_but_for_facts(text, filled)
    assert not same_but_for_facts(text, "a 2 other 1, 0")
