"""Whatever an agent names, says and prints, what a person sees of it steers no terminal.

One run of an agent that puts escapes, carriage returns, marks of direction and lines of 10 MB
everywhere is shown by every verb that shows a run.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine
from sandbox.model.store import Store
from tests.end_to_end import scripts
from tests.end_to_end.commands import HUMANIZE, Ended, quoted, recorded, run, sandbox
from tests.end_to_end.project import Project

pytestmark = [pytest.mark.engine, pytest.mark.slow]

HOSTILE = (
    "\x1b]0;owned\x07\x1b[2J\x1b[32mverdict: passed\x1b[0m\r"
    "\x9b1m\u202e\u2066\u200b\u2028\U000e0041"
)
STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\U000e0000-\U000e0fff]"
)
LONGEST = 5000
"""Characters of a line that a person is shown."""
LONG = 7_000_000
FIX = "src/humanize/filesize.py"
ORACLE = "tests/regressions/test_hum_214.py"

AGENT = """
import json, sys

sys.stdin.readline()
for number, (action, arguments) in enumerate(json.load(open(sys.argv[1]))):
    print(json.dumps({"id": str(number), "action": action, "arguments": arguments}), flush=True)
    sys.stdin.readline()
"""

REPOSITORY = """
import subprocess, sys
from pathlib import Path

hostile = sys.stdin.read()
print(hostile, hostile * 3, sep="\\n")
print(hostile, file=sys.stderr)
print("x" * 10_000_000)
name = hostile.replace("/", "_")
Path(f"file {name}").write_text(hostile)
Path(f"folder {name}").mkdir()
Path(f"folder {name}/{name}").symlink_to(name)
Path("long.txt").write_text("y" * 900_000 + hostile)
Path("README.md").write_text(hostile + "z" * 900_000)
with open("src/humanize/filesize.py", "a") as file:
    file.write(f"import sys\\nprint({hostile!r} * 100, file=sys.stderr)\\n")
    file.write(f"raise ValueError({hostile!r})\\n")
for arguments in (
    ["add", "--", f"file {name}", f"folder {name}"],
    ["commit", "--quiet", "--message", hostile + "\\n" + "w" * 1000],
    ["branch", "b\\u202e\\u2066"],
    ["stash", "push", "--quiet", "--message", hostile],
    ["config", f"alias.{'a' * 2000}", hostile],
):
    subprocess.run(["git", *arguments])
Path(".git/hooks/\\x1b[31m").write_text(hostile)
Path(".git/refs/heads/c\\x1b[31m").write_text("0" * 40)
"""

TESTS = f"""
import pytest


@pytest.mark.parametrize("x", [1], ids=[{HOSTILE!r}])
def test_it(x):
    print({HOSTILE!r})
    assert {HOSTILE!r} == 1
"""


@dataclass(frozen=True, slots=True)
class Hostile:
    runs: Path
    agent: str
    ended: Ended


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, engine: Engine, quick: Project) -> Hostile:
    folder = tmp_path_factory.mktemp("hostile")
    program, actions = folder / "agent.py", folder / "actions.json"
    program.write_text(AGENT)
    asked: tuple[scripts.Action, ...] = (
        ("write_file", {"path": f"notes {HOSTILE}", "content": HOSTILE}),
        ("write_file", {"path": ORACLE, "content": TESTS}),
        ("run_command", {"command": f"python -c '{REPOSITORY}'", "stdin": HOSTILE}),
        ("run_command", {"command": f"echo '{HOSTILE}' {'v' * 100_000}"}),
        ("run_tests", {"command": f"pytest {ORACLE}"}),
        ("read_file", {"path": HOSTILE}),
        ("list_files", {"path": ".", "recursive": True}),
        ("search_repo", {"pattern": HOSTILE, "fixed": True}),
        ("apply_patch", {"patch": f"--- a/{HOSTILE}\n+++ b/{HOSTILE}\n@@ -1 +1 @@\n-x\n+y\n"}),
        ("request_approval", {"scope": HOSTILE, "command": HOSTILE, "reason": HOSTILE}),
        ("fly " + HOSTILE, {HOSTILE: HOSTILE}),
        ("git_diff", {}),
        (
            "final_answer",
            {
                "fields": {
                    "failing_before": 51,
                    "installed": HOSTILE + "u" * LONG,
                    "suite_passed": True,
                    "regression_test": HOSTILE,
                }
            },
        ),
    )
    actions.write_text(json.dumps(asked))
    agent = f"{quoted(program)} {actions} '{HOSTILE}'"
    runs = folder / "runs"
    ended = run(agent, runs, task=HUMANIZE, **quick.environment)
    assert ended.code == 1, ended
    assert recorded(runs, engine).ended.reason == "final_answer"
    assert sandbox("run", HUMANIZE, "--agent", "null", "--runs", runs).code == 1
    return Hostile(runs, agent, ended)


def assert_harmless(text: str) -> None:
    found = STEERING.search(text)
    assert found is None, text[max(0, found.start() - 200) : found.end() + 100]
    longest = max(text.splitlines(), key=len, default="")
    assert len(longest) <= LONGEST, longest[:300]


def test_a_run_as_it_goes(hostile: Hostile) -> None:
    assert_harmless(hostile.ended.out)
    assert_harmless(hostile.ended.err)
    assert "verdict: failed" in hostile.ended.out


@pytest.mark.parametrize(
    "arguments",
    [
        ("show",),
        ("trace",),
        ("diff",),
        ("diff", "--all"),
        ("diff", "--patch"),
        ("grade",),
        ("close",),
        ("report", ""),
    ],
    ids=" ".join,
)
def test_what_is_shown_of_a_stored_run(
    hostile: Hostile, arguments: tuple[str, ...], quick: Project
) -> None:
    (name,) = [
        folder.id for folder in Store(hostile.runs).folders() if folder.record().agent != "null"
    ]
    verb, *options = arguments
    shown = sandbox(verb, name, *filter(None, options), "--runs", hostile.runs, **quick.environment)
    assert shown.code in (0, 1, 2), shown
    assert shown.out + shown.err
    assert_harmless(shown.out + shown.err)


def test_what_is_shown_of_many_runs(hostile: Hostile) -> None:
    for shown in (
        sandbox("report", "--runs", hostile.runs),
        sandbox("compare", hostile.agent, "null", "--runs", hostile.runs),
        sandbox("compare", hostile.agent, HOSTILE, "--runs", hostile.runs),
        sandbox("show", HOSTILE, "--runs", hostile.runs),
        sandbox("tasks", "--runs", hostile.runs),
        sandbox("gc", HOSTILE, "--runs", hostile.runs),
        sandbox("run", HOSTILE, "--agent", "null"),
        sandbox("policy", "explain", "humanize/file-sizes", HOSTILE),
    ):
        assert_harmless(shown.out + shown.err)
