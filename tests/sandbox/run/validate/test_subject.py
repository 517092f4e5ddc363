"""Which agents are run for which checks, and what does not apply to a task."""

from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.model.errors import EngineError
from sandbox.model.store import Store
from sandbox.run.validate import Check
from sandbox.run.validate.checks import Row, attempted
from sandbox.run.validate.subject import Subject, in_order
from sandbox.tasks import library
from sandbox.tasks.images import BuiltImage

LOADED = library.load("humanize/file-sizes")
IMAGE = BuiltImage("t", "sha256:0", 0, 0.0, rebuilt=False)
WITHOUT_GRAPH = replace(LOADED, task=LOADED.task.model_copy(update={"graph": None}))


def agents(*checks: Check, seeds: int = 2) -> set[str]:
    return set(Subject.of(LOADED, IMAGE, frozenset(checks), seeds).cases)


def rows(subject: Subject, check: Check) -> list[Row]:
    return list(subject.rows([check]))


ORACLES = {"oracle", "oracle denied-first"}
VIOLATORS = {f"breaks {rule.id}" for rule in LOADED.task.rules if rule.hard}


@pytest.mark.parametrize(
    ("check", "needed"),
    [
        (Check.FACTS, set()),
        (Check.HUNKS, {"oracle"}),
        (Check.GRADINGS, {"oracle"}),
        (Check.TESTS, {"oracle"}),
        (Check.AGENTS, {"null", "final-only", "do-everything", "random 1", "random 2"}),
        (Check.VIOLATORS, VIOLATORS),
        (Check.ORACLE, ORACLES),
        (Check.ORDER, {"null", "final-only"} | ORACLES | VIOLATORS),
    ],
)
def test_only_the_agents_that_a_check_needs_are_run(check: Check, needed: set[str]) -> None:
    assert agents(check) == needed


def test_who_has_to_be_refused_is_not_stopped_by_a_bound_that_fits_the_oracle() -> None:
    """A line with a run of tests too many prints more than the oracle is shown."""
    tight = library.load("humanize/file-sizes+tight-output.5")
    checks = frozenset({Check.ORACLE, Check.VIOLATORS})
    subject = Subject.of(tight, IMAGE, checks, seeds=1)
    bound = tight.task.limits.output_bytes
    shown = {name: subject.tried(name).task.limits.output_bytes for name in subject.cases}
    assert {shown[name] for name in ORACLES} == {bound}
    assert min(most for name, most in shown.items() if name not in ORACLES) > 100 * bound


def test_every_exploit_is_run_or_says_why_not(tmp_path: Path) -> None:
    folder = Store(tmp_path).folder("a")
    subject = Subject.of(LOADED, IMAGE, frozenset({Check.EXPLOITS}), 0)
    skipped = {row.what for row in rows(subject, Check.EXPLOITS)}
    assert skipped | set(subject.cases) == set(subject.exploits)
    assert skipped.isdisjoint(subject.cases)
    for name in subject.cases:
        assert subject.agent(name, folder).name == name


def test_an_exploit_that_does_not_apply_is_listed_with_the_reason() -> None:
    scope = LOADED.task.scope.model_copy(update={"must": (), "may": ()})
    other = replace(LOADED, task=LOADED.task.model_copy(update={"scope": scope}))
    subject = Subject.of(other, IMAGE, frozenset({Check.EXPLOITS}), 0)
    skipped = rows(subject, Check.EXPLOITS)
    assert skipped
    for row in skipped:
        assert row.status == "skipped"
        assert row.holds
        assert row.notes[0]
        assert row.what not in subject.cases


def test_a_task_without_a_graph_has_no_violators_and_says_so() -> None:
    subject = Subject.of(WITHOUT_GRAPH, IMAGE, frozenset(Check), 1)
    assert {case.check for case in subject.cases.values()} == {
        *(Check.ORACLE, Check.AGENTS, Check.REWORDINGS, Check.EXPLOITS),
    }
    for check in (Check.GRAPH, Check.VIOLATORS):
        (row,) = rows(subject, check)
        assert (row.status, row.notes) == ("skipped", ("the task has no world graph",))


def test_a_graph_with_findings_does_not_hold() -> None:
    graph = LOADED.task.graph
    assert graph is not None
    edges = tuple(edge for edge in graph.edges if edge.id != "push")
    update = {"graph": graph.model_copy(update={"edges": edges})}
    task = replace(LOADED, task=LOADED.task.model_copy(update=update))
    subject = Subject.of(task, IMAGE, frozenset({Check.GRAPH, Check.VIOLATORS}), 0)
    (row,) = rows(subject, Check.GRAPH)
    assert not row.holds
    assert "nothing-pushed" in row.notes[0]
    (missing,) = rows(subject, Check.VIOLATORS)
    assert (missing.what, missing.holds) == ("breaks nothing-pushed", False)


def test_agents_of_chance_and_exploits_are_not_repeated() -> None:
    subject = Subject.of(LOADED, IMAGE, frozenset(Check), 1)
    repeated = {name for name, case in subject.cases.items() if in_order(case)}
    assert repeated == {"null", "final-only"} | ORACLES | VIOLATORS


def test_trouble_with_the_machinery_is_a_row_of_its_own() -> None:
    def broken() -> Row:
        raise EngineError("The engine is gone.")

    row = attempted("toy/task", Check.RESET, "a session", broken)
    assert (row.status, row.holds, row.notes) == ("error", False, ("The engine is gone.",))
