"""A variant's files laid into a folder of the test, and the oracle's commands run there."""

import hashlib
import subprocess
from pathlib import Path

from sandbox.model.task import Task


def lay(task: Task, folder: Path) -> None:
    """Write what the layer commits, as it is committed."""
    for commit in task.world.layer.commits:
        for file in commit.files:
            path = folder / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.text)


def run(line: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run a shell line in the folder, whatever becomes of it."""
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


def done(line: str, folder: Path) -> str:
    """Run a shell line that has to succeed, and return what it prints."""
    ended = run(line, folder)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def held(task: Task, folder: Path) -> set[str]:
    """Return the files that hold what they have to hold in the end; all of them are there."""
    return {
        each.path
        for each in task.scope.holds
        if hashlib.sha256((folder / each.path).read_bytes()).hexdigest() == each.digest
    }


def commands(task: Task, holding: str) -> list[str]:
    """Return the shell lines of the oracle that hold some text."""
    lines = (str(action.arguments.get("command", "")) for action in task.oracle)
    return [line for line in lines if holding in line]
