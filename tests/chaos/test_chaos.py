"""A hundred faults; `make chaos` does two thousand, and harms an engine of its own."""

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from sandbox.container.engines.base import Engine
from sandbox.model.store import Store
from tests.chaos.__main__ import kinds
from tests.chaos.disks import HOSTILE, left_behind
from tests.chaos.evidence import VERBS
from tests.chaos.fault import Kind, outcomes, table
from tests.end_to_end.commands import TASK, sandbox

pytestmark = pytest.mark.engine

TIMES = {
    "stored file damaged": 80,
    "kill -9 of a run": 4,
    "kill -9 of a batch": 1,
    "a signal to a run": 3,
    "a signal to a batch": 2,
    "container killed": 2,
    "container removed": 2,
    "container frozen, one Ctrl-C": 1,
    "runs on a disk that is full": 2,
    "runs out of reach, read-only": 1,
    "a hostile tree": 2,
}
FEW = {
    "stored file damaged": 94,
    "kill -9 of a run": 1,
    "a signal to a run": 1,
    "container killed": 1,
    "container removed": 1,
    "container frozen, one Ctrl-C": 1,
    "a hostile tree": 1,
}
"""A hundred faults, most of them of the kind that takes no run."""


@pytest.mark.parametrize(
    ("times", "verbs"), [(FEW, 2), pytest.param(TIMES, len(VERBS), marks=pytest.mark.thorough)]
)
@pytest.mark.slow
def test_faults_break_no_promise(times: dict[str, int], verbs: int, tmp_path: Path) -> None:
    there = kinds(tmp_path, verbs)
    wanted = [(there[name], count) for name, count in times.items() if name in there]
    found = outcomes(wanted, "make test", tmp_path / "faults", 2)
    assert [each for each in found if each.problems] == []
    assert len(found) == sum(count for _, count in wanted)


@pytest.mark.thorough
@pytest.mark.parametrize("line", HOSTILE)
def test_no_tree_takes_the_harness_more_memory_than_promised(
    line: str, engine: Engine, tmp_path: Path
) -> None:
    assert left_behind([line], engine, {}, tmp_path) == []


@pytest.mark.thorough
def test_hostile_runs_harm_nobody_beside_them(tmp_path: Path) -> None:
    hostile, runs = tmp_path / "hostile.yaml", tmp_path / "runs"
    actions = [
        {"action": "run_command", "arguments": {"command": line, "timeout_seconds": 30}}
        for line in HOSTILE[:6]
    ]
    hostile.write_text(yaml.safe_dump(actions))
    ended = sandbox(
        "run", TASK, "--agent", hostile, "--agent", "oracle", "--trials", "4", "--jobs", "4",
        "--runs", runs,
    )  # fmt: skip
    assert ended.code == 1, ended.err
    verdicts = Counter(
        (record.agent == "oracle", str(record.verdict))
        for record in (folder.record() for folder in Store(runs).folders())
    )
    assert verdicts[True, "passed"] == 4
    assert sum(count for (oracle, _), count in verdicts.items() if not oracle) == 4
    assert not {verdict for oracle, verdict in verdicts if not oracle} & {"passed", "error"}


def test_what_did_not_hold_is_counted(tmp_path: Path) -> None:
    def unable(chance: random.Random, place: Path) -> tuple[str, Sequence[str]]:
        raise OSError(f"{chance.random()} {place}")

    kinds = (
        Kind("good", lambda *_: ("", [])),
        Kind("bad", lambda *_: ("", ["no"])),
        Kind("no", unable),
    )
    found = outcomes([(each, 2) for each in kinds], "seed", tmp_path, 1)
    assert {each.kind for each in found if each.problems} == {"bad", "no"}
    assert table(found)[-1] == "| **all** | 6 | 2 | 4 |"
