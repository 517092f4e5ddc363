"""Tight output: about a stated multiple of what the oracle is shown, told in the prompt."""

import json
import shutil
from pathlib import Path

import pytest

from sandbox.model import places, trace
from sandbox.model.errors import UsageError
from sandbox.model.store import Store
from sandbox.tasks import library
from sandbox.tasks.plans.operators.tight_output import MULTIPLES, ROUNDED, recorded
from sandbox.tasks.suites import seeded, suite
from sandbox.tasks.suites.generator import SPLITS
from tests.end_to_end.commands import sandbox

pytestmark = pytest.mark.slow

HARD = (
    "qs/guard-once+change-desk+missing-argument.5+stale-record.5+flood.3+queue.2+width.5@5",
    "django/negative-durations+change-desk+stale-record+missing-argument+decoy-tools.5@6",
    "cjson/planes+change-desk.1+injection-twin.1@7",
)


def shown(runs: Path) -> tuple[int, int]:
    """Bytes of the observations of the newest run, and of those its last run of tests, or 0."""
    entries = trace.read(Store(runs).find("last").trace).entries
    told = [
        (entry.event.name, len(entry.event.observation.model_dump_json()))
        for entry in entries
        if entry.event.kind == "observation"
    ]
    tests = [size for name, size in told if name == "run_tests"]
    return sum(size for _, size in told), (tests or [0])[-1]


def shown_to_others(name: str, runs: Path) -> list[int]:
    """Bytes of all observations of each of the task's other oracles, every one of which passes."""
    sizes = []
    for other in library.load(name).task.other_oracles.values():
        script = runs / "oracle.yaml"
        script.write_text(json.dumps([each.model_dump(exclude_unset=True) for each in other]))
        ended = sandbox("run", name, "--agent", script, "--runs", runs)
        assert ended.code == 0, ended
        sizes.append(shown(runs)[0])
    return sizes


@pytest.mark.parametrize("strength", MULTIPLES)
@pytest.mark.parametrize("name", recorded())
def test_the_bound_is_about_so_many_times_what_the_oracle_is_shown(
    name: str, strength: int
) -> None:
    task = library.load(f"{name}+tight-output.{strength}").task
    over = task.limits.output_bytes - MULTIPLES[strength] * recorded()[name].most
    assert 0 <= over < ROUNDED + 1
    assert f"may come to {task.limits.output_bytes:,} bytes; then it is over" in task.prompt


def test_what_operators_add_may_be_looked_at() -> None:
    plain = library.load("cjson/planes+tight-output.5").task.limits.output_bytes
    desk = library.load("cjson/planes+change-desk.3+tight-output.5").task.limits.output_bytes
    more = library.load("cjson/planes+change-desk.3+queue.4+tight-output.5").task.limits
    assert plain < desk < more.output_bytes


def test_a_flood_and_it_tell_one_bound() -> None:
    name = "qs/guard-once+change-desk+missing-argument+flood.4"
    task = library.load(f"{name}+tight-output.5").task
    assert "1,048,576 bytes" in library.load(name).task.prompt
    assert task.prompt.count(" bytes") == 1
    assert f"{task.limits.output_bytes:,} bytes" in task.prompt


def test_every_task_is_recorded() -> None:
    own = {*library.names(), *suite.own_tasks()}
    assert own <= {*recorded()}
    names = seeded.repositories(["all"])
    of_seeds = {each for facet in seeded.facets() for each in seeded.tasks(names, facet, "L1")}
    assert {*recorded()} - own <= of_seeds


@pytest.mark.parametrize("split", SPLITS)
def test_seeds_of_each_facet_are_recorded_in_each_split(split: str) -> None:
    names = seeded.repositories(["all"])
    for facet in seeded.facets():
        assert seeded.tasks(names, facet, "L5", split)


def test_a_task_of_which_nobody_knows_it_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("images", "task_repos"):
        shutil.copytree(places.project() / name, tmp_path / name)
    new = tmp_path / "task_repos/cjson/other"
    shutil.copytree(new.with_name("planes"), new)
    file = new / "task.yaml"
    file.write_text(file.read_text().replace("id: cjson/planes", "id: cjson/other"))
    monkeypatch.setenv("SANDBOX_PROJECT", str(tmp_path))
    with pytest.raises(UsageError, match="nobody has recorded what its oracle is shown"):
        library.load("cjson/other+tight-output")


@pytest.mark.engine
@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("name", recorded())
def test_oracles_are_shown_what_was_recorded(name: str, tmp_path: Path) -> None:
    ended = sandbox("run", name, "--agent", "oracle", "--runs", tmp_path)
    assert ended.code == 0, ended
    whole, last_tests = shown(tmp_path)
    assert whole == pytest.approx(recorded()[name].whole, rel=0.03)
    assert last_tests == pytest.approx(recorded()[name].tests, rel=0.05)


@pytest.mark.engine
@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("name", library.names())
def test_other_oracles_are_shown_what_was_recorded(name: str, tmp_path: Path) -> None:
    others = shown_to_others(name, tmp_path)
    record = recorded()[name]
    assert max(record.whole, *others) == pytest.approx(record.most, rel=0.03)


@pytest.mark.engine
@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", HARD)
def test_oracles_stay_within_the_tightest_bound(name: str, tmp_path: Path) -> None:
    operators, _, number = name.partition("@")
    tightest = f"{operators}+tight-output.5@{number}"
    ended = sandbox("run", tightest, "--agent", "oracle", "--runs", tmp_path)
    assert ended.code == 0, ended
    whole, _ = shown(tmp_path)
    bound = library.load(tightest).task.limits.output_bytes
    assert bound / 1.5 <= whole <= bound


@pytest.mark.engine
@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", HARD)
def test_other_oracles_stay_within_the_tightest_bound(name: str, tmp_path: Path) -> None:
    operators, _, number = name.partition("@")
    assert shown_to_others(f"{operators}+tight-output.5@{number}", tmp_path)
