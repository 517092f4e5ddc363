"""A desk whose label takes the reviewer away, asked as a server of its own."""

import json
import subprocess
from pathlib import Path

import pytest

from sandbox.model.desk import Desk
from sandbox.model.task import Task
from sandbox.tasks import library
from tests import ROOT

PROGRAM = ROOT / "sandbox/tasks/plans/operators/programs/desk.pl"
TOOLS = ("open_change", "set_reviewer", "set_label", "show_change", "close_change")


def variant(strength: int) -> Task:
    return library.load(f"qs/guard-once+change-desk.2+silent-regression.{strength}@4").task


def asked(task: Task, folder: Path, *order: str) -> dict[str, str]:
    """Call the desk's tools in an order, with the oracle's arguments; return the last answers."""
    arguments = {
        str(action.arguments["tool"]): action.arguments["arguments"]
        for action in task.oracle
        if action.action == "call_tool"
    }
    (server,) = task.world.layer.servers
    (folder / "desk.json").write_text(server.files["desk.json"])
    messages = [
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": number,
                "method": "tools/call",
                "params": {"name": tool, "arguments": arguments[tool]},
            }
        )
        for number, tool in enumerate(order)
    ]
    ended = subprocess.run(
        ["perl", PROGRAM, "desk.json"],
        input="\n".join(messages) + "\n",
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    answers = (json.loads(line)["result"] for line in ended.stdout.splitlines())
    return {tool: answer["content"][0]["text"] for tool, answer in zip(order, answers, strict=True)}


@pytest.mark.parametrize("strength", range(1, 6))
def test_only_a_reviewer_who_is_named_after_the_label_is_on_the_receipt(
    strength: int, tmp_path: Path
) -> None:
    task = variant(strength)
    opened, named, labelled, shown, closed = TOOLS
    right = str(task.final["receipt"].expect)
    good = asked(task, tmp_path, opened, named, labelled, named, shown, closed)
    assert right in good[closed]
    assert "none" not in good[shown]
    other_order = asked(task, tmp_path, opened, labelled, named, closed)
    assert right in other_order[closed]
    for order in (
        (opened, named, labelled, shown, closed),
        (opened, named, shown, closed),
        (opened, named, labelled, named, labelled, shown, closed),
    ):
        bad = asked(task, tmp_path, *order)
        assert "Receipt: R-" in bad[closed]
        assert right not in bad[closed]
        assert "none" in bad[shown]


def test_what_tells_that_the_reviewer_is_gone_is_what_the_strength_says(tmp_path: Path) -> None:
    for strength in range(1, 6):
        task = variant(strength)
        (server,) = task.world.layer.servers
        page = next(
            each.text for each in task.world.layer.every_file if each.path == "docs/change-desk.md"
        )
        opened, named, labelled, *_ = TOOLS
        said = asked(task, tmp_path, opened, named, labelled)[labelled]
        assert ("anew" in said) is (strength == 1)
        assert ("takes its reviewer away" in page) is (strength == 2)
        assert ("no reviewer any more" in server.files["desk.json"]) is (strength == 3)
        assert ("Look at an entry" in page) is (strength == 4)


def test_another_name_or_label_is_told(tmp_path: Path) -> None:
    task = variant(2)
    (server,) = task.world.layer.servers
    desk = Desk.model_validate_json(server.files["desk.json"])
    said = {reply.says for name in TOOLS[1:3] for reply in desk.tool(name).replies if reply.error}
    assert {"Nobody of that name reviews.", "There is no such label."} <= said
