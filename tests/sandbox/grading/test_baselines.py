"""Baselines: an agent against itself, and whether the world has moved under it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sandbox.cli.app import application
from sandbox.grading import baselines
from sandbox.model.baseline import Baseline, Drift
from sandbox.model.errors import StoreError, UsageError
from sandbox.model.report import RunMetrics
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from tests.sandbox.cli.pages.stored import stored_run
from tests.sandbox.grading.test_gate import metrics

PASSED, FAILED = Verdict.PASSED, Verdict.FAILED


def side(agent: str, passing: int, of: int = 12, **others: object) -> list[RunMetrics]:
    """Runs of so many tasks, of which the first ones pass."""
    return [
        metrics(number, PASSED if number < passing else FAILED, agent=agent, **others)
        for number in range(of)
    ]


def drift(then: list[RunMetrics], now: list[RunMetrics], canary: str = "oracle") -> Drift:
    first = [run.model_copy(update={"run": f"then {run.run}"}) for run in then]
    pinned = Baseline(name="b", pinned="2026", sandbox_version="0", runs=tuple(first))
    return baselines.drift(pinned, now, canary)


@pytest.mark.parametrize(
    ("oracle", "mine", "world", "cause"),
    [
        (12, 10, "same", "nothing"),
        (12, 9, "same", "nothing"),
        (12, 2, "same", "agent"),
        (8, 2, "changed", "world"),
        (11, 10, "changed", "nothing"),
    ],
)
def test_a_canary_tells_a_change_of_the_world_from_one_of_the_agent(
    oracle: int, mine: int, world: str, cause: str
) -> None:
    found = drift(
        side("oracle", 12) + side("mine", 10), side("oracle", oracle) + side("mine", mine)
    )
    causes = {delta.agent: delta.cause for delta in found.deltas}
    assert found.world == world
    assert causes == {"mine": cause, "oracle": "world" if world == "changed" else "nothing"}


def test_what_was_pinned_is_not_run_now_though_it_is_still_stored() -> None:
    then = side("mine", 3, of=3)
    now = [run.model_copy(update={"run": f"new {run.run}"}) for run in side("mine", 0, of=3)]
    stored = [run.model_copy(update={"run": f"then {run.run}"}) for run in then]
    found = drift(then, [*stored, *now])
    assert found.deltas[0].difference.difference == -1


def test_an_edited_agent_and_a_changed_task_are_known_beside_what_they_were() -> None:
    """As a report names them where both versions are stored."""
    then = side("mine", 3, of=3, acting="mine")
    edited = side("mine (0a1b2c3d)", 0, of=3, acting="mine")
    now = [run.model_copy(update={"run": f"new {run.run}"}) for run in edited]
    now[0] = now[0].model_copy(update={"task": "r/t0 (ffff0000)", "task_digest": "other"})
    found = drift(then, now)
    assert [(each.agent, each.difference.tasks) for each in found.deltas] == [("mine", 2)]
    assert found.other_tasks == ("r/t0",)


def test_a_canary_that_lost_one_task_and_won_another_has_changed() -> None:
    then = [metrics(1, PASSED, agent="oracle"), metrics(2, FAILED, agent="oracle")]
    now = [metrics(11, FAILED, agent="oracle", task="r/t1", family="r/t1")]
    now += [metrics(12, PASSED, agent="oracle", task="r/t2", family="r/t2")]
    found = drift(then, now)
    assert (found.deltas[0].difference.difference, found.world) == (0, "changed")


def test_a_canary_vouches_for_no_task_that_it_has_not_run() -> None:
    now = side("oracle", 2, of=2) + side("mine", 0)
    found = drift(side("oracle", 2, of=2) + side("mine", 12), now)
    assert {each.agent: each.cause for each in found.deltas} == {
        "mine": "unknown",
        "oracle": "nothing",
    }


def test_without_a_canary_the_cause_is_not_known() -> None:
    found = drift(side("mine", 12), side("mine", 1))
    assert (found.world, found.canary, found.deltas[0].cause) == ("unknown", "", "unknown")


def test_one_task_alone_proves_no_change() -> None:
    found = drift(side("mine", 1, of=1), side("mine", 0, of=1))
    assert (found.deltas[0].difference.difference, found.deltas[0].changed) == (-1, False)


def test_tasks_that_are_others_now_are_left_out_and_named() -> None:
    then, now = side("mine", 3, of=3), side("mine", 3, of=3)
    now[0] = metrics(0, FAILED, task_digest="another")
    found = drift(then, now)
    assert found.other_tasks == ("r/t0",)
    assert (found.deltas[0].difference.tasks, found.deltas[0].difference.difference) == (2, 0)


def test_who_is_gone_or_new_is_named_and_nobody_in_common_is_an_error() -> None:
    found = drift(side("mine", 1) + side("gone", 1), side("mine", 1) + side("new", 1))
    assert (found.gone, found.new) == (("gone",), ("new",))
    with pytest.raises(UsageError, match="No agent has graded runs"):
        drift(side("mine", 1), side("other", 1))


def test_a_baseline_outlives_its_runs_and_is_never_overwritten(tmp_path: Path) -> None:
    store = Store(tmp_path)

    def told(*words: str) -> tuple[int, str]:
        ended = CliRunner().invoke(application(), [*words, "--runs", str(store.root)])
        return ended.exit_code, ended.output

    folder = stored_run(store, "00000001-task", verdict=PASSED)
    assert told("baseline", "pin", "monday") == (
        0,
        f"baseline monday: 1 runs of 1 agents, in {tmp_path}/baselines/monday.json\n",
    )
    code, output = told("baseline", "pin", "monday")
    assert (code, "already" in output) == (2, True)
    one = json.loads(told("baseline", "pin", "sunday", "--json")[1])
    assert (one["name"], one["runs"], one["agents"]) == ("sunday", 1, 1)
    (tmp_path / "baselines" / "sunday.json").write_text("{")
    listed = json.loads(told("baseline", "list", "--json")[1])
    assert [(each["name"], each["runs"]) for each in listed] == [("monday", 1), ("sunday", 0)]
    assert "sunday.json cannot be read" in listed[1]["problem"]
    (tmp_path / "baselines" / "sunday.json").unlink()
    store.remove(folder)
    stored_run(store, "00000002-task", verdict=FAILED)
    code, output = told("compare", "--baseline", "monday")
    assert code == 0
    assert "mine: no change that could be told from chance" in output
    assert "monday" in told("baseline", "list")[1]
    assert told("compare", "--baseline", "tuesday")[0] == 2
    assert told("compare", "mine")[0] == 2
    assert told("baseline", "pin", "../x")[0] == 2
    (tmp_path / "baselines" / "monday.json").write_text("{")
    (tmp_path / "baselines" / "not a name.json").write_text("{")
    code, output = told("baseline", "list")
    assert (code, output.split()[-6:-2]) == (0, ["monday", "cannot", "be", "read"])
    with pytest.raises(StoreError, match=r"monday.json cannot be read"):
        baselines.find(store, "monday")
