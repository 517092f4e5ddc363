"""Harness mode `minimal` beside `raw`: an agent that solves the task and cannot spell."""

import json
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine
from sandbox.model.event import ActionTaken
from tests.end_to_end.commands import TASK, quoted, recorded, run, sandbox

pytestmark = pytest.mark.engine

MISSPELT = """
import json, sys
json.loads(input())
names = {"run_command": "bash", "read_file": "view", "run_tests": "test", "final_answer": "submit"}
for number, action in enumerate(json.load(open(sys.argv[1]))):
    arguments = action["arguments"]
    if "command" in arguments:
        arguments["cmd"] = arguments.pop("command")
    for field, value in arguments.get("fields", {}).items():
        arguments["fields"][field] = str(value)
    name = names.get(action["action"], action["action"])
    print(json.dumps({"id": str(number), "action": name, "arguments": arguments}), flush=True)
    reply = json.loads(input())
    if name == "submit" and reply["status"] == "error":
        break
"""


@pytest.mark.thorough
def test_spelling_is_what_separates_the_modes(tmp_path: Path, runs: Path, engine: Engine) -> None:
    program = tmp_path / "agent.py"
    program.write_text(MISSPELT)
    oracle = json.loads(sandbox("show", TASK, "--json").out)["oracle"]
    (tmp_path / "oracle.json").write_text(json.dumps(oracle))
    agent = f"{quoted(program)} {tmp_path / 'oracle.json'}"

    assert run(agent, runs).code == 1
    assert run(agent, runs, "--mode", "minimal").code == 0
    stored = recorded(runs, engine)
    assert (stored.record.mode, stored.entries[0].event.mode) == ("minimal", "minimal")  # type: ignore[union-attr]
    taken = [entry.event for entry in stored.entries if isinstance(entry.event, ActionTaken)]
    assert [action.name for action in taken] == [action["action"] for action in oracle]
    assert "the action bash is run_command" in {note for one in taken for note in one.repairs}

    assert run("oracle", runs).code == 0
    found = json.loads(sandbox("report", "--runs", runs, "--json").out)
    passed = {one["agent"]: (one["passed"], one["graded"]) for one in found["agents"]}
    assert passed == {"oracle": (1, 1), agent: (0, 1), f"{agent} [minimal]": (1, 1)}
