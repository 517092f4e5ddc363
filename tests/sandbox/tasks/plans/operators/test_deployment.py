"""A desk that deploys once a day with so many minutes of building, asked as a server."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from sandbox.model.desk import Desk
from sandbox.model.task import Task
from sandbox.tasks import library
from sandbox.tasks.plans.operators.deployment import DEPLOYMENT, REHEARSAL, SPARE
from tests import ROOT

PROGRAM = ROOT / "sandbox/tasks/plans/operators/programs/desk.pl"


def variant(strength: int) -> Task:
    return library.load(f"qs/guard-once+change-desk.2+deployment.{strength}@4").task


def asked(task: Task, folder: Path, *order: str) -> list[tuple[str, bool]]:
    """Call the desk's tools in an order; return the answers, and which are errors."""
    (server,) = task.world.layer.servers
    (folder / "desk.json").write_text(server.files["desk.json"])
    calls = [
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool}}
        for number, tool in enumerate(order)
    ]
    ended = subprocess.run(
        ["perl", PROGRAM, "desk.json"],
        input="".join(f"{json.dumps(call)}\n" for call in calls),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    answers = [json.loads(line)["result"] for line in ended.stdout.splitlines()]
    return [(each["content"][0]["text"], bool(each.get("isError"))) for each in answers]


def minutes(answer: str) -> int:
    found = re.search(r"left today: (\d+)", answer)
    assert found
    return int(found[1])


@pytest.mark.parametrize("strength", range(1, 6))
def test_what_is_left_is_told_and_a_rehearsal_too_many_leaves_no_deployment(
    strength: int, tmp_path: Path
) -> None:
    task, spare = variant(strength), SPARE[strength]
    stamp = str(task.final["deployment"].expect)
    rehearsals = ["rehearse"] * spare
    order = ("building_minutes", *rehearsals, "deploy")
    (first, _), *_, (last, refused) = asked(task, tmp_path, *order)
    assert stamp in last
    assert not refused
    assert DEPLOYMENT + REHEARSAL * spare <= minutes(first) < DEPLOYMENT + REHEARSAL * (spare + 1)
    order = (*rehearsals, "rehearse", "building_minutes", "deploy")
    *tried, (left, _), (after, refused) = asked(task, tmp_path, *order)
    assert [minutes(told) for told, _ in tried] == [
        minutes(first) - REHEARSAL * count for count in range(1, spare + 2)
    ]
    assert minutes(left) == minutes(tried[-1][0]) < DEPLOYMENT
    assert refused
    assert stamp not in after


def test_nothing_is_built_that_there_are_no_minutes_for(tmp_path: Path) -> None:
    *_, (left, _), (last, refused) = asked(
        variant(5), tmp_path, *["rehearse"] * 4, "building_minutes", "rehearse"
    )
    assert minutes(left) < REHEARSAL
    assert refused
    assert "too few" in last


def test_staging_is_had_once(tmp_path: Path) -> None:
    task = variant(1)
    (first, _), (again, refused), (_, rehearsed) = asked(
        task, tmp_path, "deploy", "deploy", "rehearse"
    )
    assert str(task.final["deployment"].expect) in first
    assert "taken" in again
    assert refused
    assert rehearsed


def test_what_tells_how_long_it_takes_is_what_the_strength_says() -> None:
    for strength in range(1, 6):
        task = variant(strength)
        (server,) = task.world.layer.servers
        desk = Desk.model_validate_json(server.files["desk.json"])
        (page,) = (
            each.text
            for commit in task.world.layer.commits
            for each in commit.files
            if each.path == "docs/change-desk.md"
        )
        takes = f"{DEPLOYMENT} of them"
        assert (takes in page) is (strength <= 3)
        assert (f"Takes {DEPLOYMENT}" in desk.tool("deploy").about) is (strength == 4)
        minutes = desk.tool("building_minutes").replies[-1].says
        assert f"A deployment takes {DEPLOYMENT}" in minutes
