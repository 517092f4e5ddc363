"""A backlog in a container: every ticket is needed, and none may be done in another way."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox.model.task import Task
from tests.end_to_end.commands import sandbox

pytestmark = pytest.mark.engine

NAME = "humanize/backlog-c57d2651"
MESSAGE = "a message that is not as required"
Script = list[dict[str, Any]]


def task() -> Task:
    return Task.model_validate_json(sandbox("show", NAME, "--json").out)


def oracle() -> Script:
    return [each.model_dump(mode="json") for each in task().oracle]


def positions(script: Script, text: str) -> list[int]:
    return [place for place, each in enumerate(script) if text in json.dumps(each["arguments"])]


def run(script: Script, folder: Path, runs: Path) -> tuple[int, str]:
    path = folder / "script.yaml"
    path.write_text(json.dumps(script))
    ended = sandbox("run", NAME, "--agent", path, "--runs", runs)
    return ended.code, ended.out


def leave_a_fault(script: Script) -> Script:
    patches = [place for place, each in enumerate(script) if each["action"] == "apply_patch"]
    del script[patches[-1]]
    return script


def sum_up_too_early(script: Script) -> Script:
    summed = positions(script, "sha256sum")[0]
    first = next(place for place, each in enumerate(script) if each["action"] == "apply_patch")
    script.insert(first, script.pop(summed))
    return script


def take_what_waits(script: Script) -> Script:
    line = "echo '5. At night, call the office.' >> notes/on-call.md"
    script.insert(-1, {"action": "run_command", "arguments": {"command": line}})
    return script


def commit_together(script: Script) -> Script:
    commits = positions(script, "git commit")
    lines = [script[place]["arguments"]["command"] for place in commits]
    paths = " ".join(line.rpartition("-- ")[2] for line in lines)
    together = f"git add docs && {lines[0].rpartition('-- ')[0]}-- {paths}"
    script[commits[0]]["arguments"]["command"] = together
    return [each for place, each in enumerate(script) if place not in commits[1:]]


def swap_numbers(script: Script) -> Script:
    one, other = (script[place]["arguments"] for place in positions(script, "git commit")[:2])
    (first, path), (second, at) = (each["command"].split(" -- ") for each in (one, other))
    one["command"], other["command"] = f"{second} -- {path}", f"{first} -- {at}"
    return script


def commit_checksums_with_code(script: Script) -> Script:
    code, sums = positions(script, "git commit")[-2:]
    line = script[code]["arguments"]["command"]
    script[code]["arguments"]["command"] = f"git add docs && {line} docs/checksums.txt"
    return [each for place, each in enumerate(script) if place != sums]


def mend_elsewhere(script: Script) -> Script:
    patched = [place for place, each in enumerate(script) if each["action"] == "apply_patch"]
    line = "printf '\\nimport humanize.lists as _lists\\n_lists.repr = str\\n' >> {}"
    number = next(place for place in patched if "number.py" in json.dumps(script[place]))
    lists = next(place for place in patched if "lists.py" in json.dumps(script[place]))
    more = {
        "action": "run_command",
        "arguments": {"command": line.format("src/humanize/number.py")},
    }
    script.insert(number + 1, more)
    del script[lists]
    return [each for each in script if "-- src/humanize/lists.py" not in json.dumps(each)]


def claim_what_waits(script: Script) -> Script:
    fields = script[-1]["arguments"]["fields"]
    fields["mended"] = fields["mended"] + fields["nothing_to_do"]
    fields["nothing_to_do"] = []
    return script


def test_it_can_be_worked_off_by_actions_and_by_shell_lines(tmp_path: Path, runs: Path) -> None:
    for actions in (task().oracle, *task().other_oracles.values()):
        script = [each.model_dump(mode="json") for each in actions]
        code, out = run(script, tmp_path, runs)
        assert code == 0, out


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (sum_up_too_early, "checksums"),
        (commit_together, "one-file-a-commit"),
        pytest.param(leave_a_fault, "tests       failed", marks=pytest.mark.slow),
        pytest.param(take_what_waits, "notes/on-call.md", marks=pytest.mark.slow),
        pytest.param(claim_what_waits, "The final answer's mended", marks=pytest.mark.slow),
        pytest.param(swap_numbers, MESSAGE, marks=pytest.mark.slow),
        pytest.param(commit_checksums_with_code, MESSAGE, marks=pytest.mark.slow),
        pytest.param(
            mend_elsewhere,
            "src/humanize/lists.py, which has to change",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_no_ticket_is_left_or_done_in_another_way(
    wrong: Callable[[Script], Script], told: str, tmp_path: Path, runs: Path
) -> None:
    code, out = run(wrong(oracle()), tmp_path, runs)
    assert code == 1, out
    assert told in out


@pytest.mark.slow
def test_its_wrong_ways_fail_as_its_graph_says(runs: Path) -> None:
    only = ("--only", "violators", "--only", "edges", "--only", "facts", "--runs", runs)
    ended = sandbox("validate", NAME, *only)
    assert ended.code == 0, ended.out
    assert "  bad " not in ended.out
