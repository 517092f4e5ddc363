"""What an agent's commands and paths may do to a container: the run goes on, and all is told."""

import re
from functools import partial
from pathlib import Path

import pytest

from sandbox.container import candidate as candidates
from sandbox.container.engines.base import Engine
from sandbox.model.observation import Observation
from tests.end_to_end import commands, scripts
from tests.end_to_end.commands import HUMANIZE, Recorded, recorded, sandbox
from tests.end_to_end.project import Project
from tests.end_to_end.scripts import Action, command

run = partial(commands.run, task=HUMANIZE)
pytestmark = pytest.mark.engine

FILL = """python3 - << END
import os, time
try:
    while os.fork():
        pass
    time.sleep(99)
except OSError:
    {full}
END
"""
"""Takes every process that the container may have, and then does something else."""

HOSTILE: dict[str, Action] = {
    "squatters": command(FILL.format(full="os._exit(0)") + "sleep 99 & sleep 99 &"),
    "fork bomb": command("bomb() { bomb | bomb & }; bomb; sleep 99", 1),
    "deaf": command("trap '' TERM INT HUP; sleep 99 & while :; do sleep 1; done", 1),
    "daemon": command("setsid nohup sleep 999 > /dev/null 2>&1 < /dev/null &"),
    "gigabyte": command("head -c 1000000000 /dev/zero"),
    "greedy": command("python3 -c 'x = bytearray(4 << 30)\nfor i in range(len(x)): x[i] = 1'", 15),
    "crowd": command(FILL.format(full="time.sleep(99)"), 1),
    "full": command("head -c 100000000 /dev/zero > /dev/shm/full; df --output=pcent /dev/shm"),
    "deleted": command("rm -rf ~/humanize/* /tmp/* /dev/shm/full"),
}
ALIVE = command("echo alive")


@pytest.fixture(scope="module")
def hostile(
    tmp_path_factory: pytest.TempPathFactory, engine: Engine, quick: Project
) -> tuple[Recorded, dict[str, tuple[Observation, Observation]]]:
    """Each command's observation, and that of the command after it."""
    folder = tmp_path_factory.mktemp("hostile")
    actions = [action for each in HOSTILE.values() for action in (each, ALIVE)]
    ended = run(scripts.write(folder / "script.yaml", *actions), folder, **quick.environment)
    assert (ended.code, ended.err) == (1, "")
    stored = recorded(folder, engine)
    seen = stored.observations
    pairs = zip(seen[::2], seen[1::2], strict=True)
    return stored, dict(zip(HOSTILE, pairs, strict=True))


@pytest.mark.parametrize("name", HOSTILE)
def test_the_next_action_works(
    hostile: tuple[Recorded, dict[str, tuple[Observation, Observation]]], name: str
) -> None:
    _, after = hostile[1][name]
    assert (after.status, after.result["stdout"]) == ("ok", "alive\n")


def test_what_each_command_did_is_told(
    hostile: tuple[Recorded, dict[str, tuple[Observation, Observation]]],
) -> None:
    seen = {name: pair[0] for name, pair in hostile[1].items()}
    for name in ("fork bomb", "deaf", "crowd"):
        assert seen[name].error_code == "timeout"
        assert seen[name].result["timed_out"] is True
    assert seen["daemon"].result["left_running"] == 1
    assert seen["gigabyte"].result["exit_code"] == 0
    assert seen["gigabyte"].result["stdout_truncated"] is True
    assert seen["greedy"].result["out_of_memory"] is True
    assert "No space left on device" in str(seen["full"].result["stderr"])
    assert "100%" in str(seen["full"].result["stdout"])
    assert seen["deleted"].result["exit_code"] == 0


def test_the_end_of_a_hostile_run_is_recorded(
    hostile: tuple[Recorded, dict[str, tuple[Observation, Observation]]],
) -> None:
    stored, _ = hostile
    assert stored.ended.reason == "agent_exited"
    assert stored.ended.killed_processes >= 1
    assert stored.ended.out_of_memory_kills >= 1
    assert stored.grade.verdict == "failed"
    rows = sandbox("diff", "last", "--runs", stored.folder.path.parent).out.splitlines()
    assert "D  never       /home/agent/humanize/AGENTS.md" in rows


PATCH = "--- a/{0}\n+++ b/{0}\n@@ -0,0 +1 @@\n+x\n"
OUTSIDE = ("../outside", "/home/agent/outside", "link/outside", ".git/hooks/x", "src/../../outside")


@pytest.mark.slow
def test_no_path_leads_out_of_the_worktree(
    runs: Path, engine: Engine, quick: Project, tmp_path: Path
) -> None:
    tries: list[Action] = []
    for path in OUTSIDE:
        tries.append(("write_file", {"path": path, "content": "x"}))
        tries.append(("apply_patch", {"patch": PATCH.format(path)}))
    reads: list[Action] = [
        ("read_file", {"path": path})
        for path in ("../.bashrc", "/etc/passwd", "link/.bashrc", "passwd")
    ]
    links = command("ln -s .. link; ln -s /etc/passwd passwd")
    script = scripts.write(tmp_path / "script.yaml", links, *tries, *reads)
    assert run(script, runs, **quick.environment).code == 1
    stored = recorded(runs, engine)
    codes = [seen.error_code for seen in stored.observations]
    assert codes == [None] + ["forbidden_path"] * len(tries + reads)
    assert [entry for entry in stored.entries if entry.event.kind == "files_changed"] == []
    rows = sandbox("diff", "last", "--all", "--runs", runs).out.splitlines()
    assert [row for row in rows if "outside" in row or "hooks" in row] == []


NAMES = {
    "a b": "a b",
    "new\nline": "new\nline",
    "tab\there": "tab\there",
    "\x1b[31mred": "\x1b[31mred",
    "\u202etxt.exe": "\u202etxt.exe",
    "back\\slash": "back\\\\slash",
}
"""File names, and how they are written in actions and records."""
BYTES = r"\xff\xfe"


def test_names_of_any_kind_survive(
    project: Project, runs: Path, engine: Engine, tmp_path: Path
) -> None:
    project.limit()
    project.replace(project.task, "\n  must:\n", "\n  may:\n    - odd/**\n  must:\n")
    names = {**NAMES, BYTES: BYTES}
    writes: list[Action] = [
        ("write_file", {"path": f"odd/{name}", "content": "x\n"}) for name in names.values()
    ]
    script = scripts.write(
        tmp_path / "script.yaml",
        *writes,
        ("list_files", {"path": "odd"}),
        command("printf 'a\\nb\\n' > $'odd/\\xc3\\x28'; ls odd | wc -l; git status --short odd"),
    )
    assert run(script, runs, **project.environment).code == 1
    stored = recorded(runs, engine)
    assert {seen.status for seen in stored.observations} == {"ok"}
    changed = [
        path
        for entry in stored.entries
        if entry.event.kind == "files_changed"
        for path in entry.event.paths
    ]
    assert changed == [f"odd/{name}" for name in names.values()]
    crossed = candidates.unpack(stored.folder.candidate)
    assert set(crossed.files) == {*changed, r"odd/\xc3("}
    for option in ("--all", "--patch", "--json"):
        shown = sandbox("diff", "last", option, "--runs", runs)
        assert shown.code == 0
        assert re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shown.out) is None
        assert r"odd/\xff\xfe" in shown.out.replace("\\\\", "\\")
    assert r"odd/new\nline" in sandbox("diff", "last", "--runs", runs).out
    traced = sandbox("trace", "last", "--runs", runs)
    assert traced.code == 0
    assert "\x1b" not in traced.out
