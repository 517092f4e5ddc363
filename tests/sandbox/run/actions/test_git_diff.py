"""`git_diff` on a real worktree."""

import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from pydantic import JsonValue

from sandbox.model.action import GitDiff, RunCommand
from sandbox.model.observation import ErrorCode
from sandbox.run.actions.git_diff import CROWD
from sandbox.run.actions.workspace import Workspace
from tests.sandbox.run.actions.acting import limited, refusal, result
from tests.sandbox.worlds import task


def test_differences_and_their_owners(repository: Path, workspace: Workspace) -> None:
    (repository / "src" / "a.py").write_text("one\n2\nthree\n")
    (repository / "notes.md").rename(repository / "moved.md")
    (repository / "new\nfile").write_text("")
    (repository / "x.pyc").write_text("")
    scope: JsonValue = {
        "must": ["src/a.py"],
        "user": ["notes.md"],
        "generated": ["*.pyc"],
        "never": ["n*"],
    }
    ours = replace(workspace, task=task(scope=scope))
    result(RunCommand(command="git add -A notes.md moved.md && git add -N ."), ours)
    found = result(GitDiff(), ours)
    paths = cast(list[dict[str, str]], found["paths"])
    assert {path["path"]: (path["status"], path["owner"]) for path in paths} == {
        "src/a.py": (" M", "yours"),
        "moved.md": ("R ", "unclaimed"),
        "new\nfile": (" A", "forbidden"),
        "x.pyc": (" A", "generated"),
    }
    assert "-two\n+2\n" in cast(str, found["diff"])
    only = result(GitDiff(path="src"), ours)
    assert [path["path"] for path in cast(list[dict[str, str]], only["paths"])] == ["src/a.py"]


def test_the_text_of_new_files_is_shown_as_git_would_once_they_are_added(
    repository: Path, workspace: Workspace
) -> None:
    for name, content in {
        "plain": "a\nb\n",
        "one": "x\n",
        "cut": "no end",
        "empty": "",
        "ru\u00e9": "\u00e9\n",
    }.items():
        (repository / name).write_text(content)
    (repository / "binary").write_bytes(b"\xff\0")
    (repository / "tool").write_text("#!/bin/sh\n")
    (repository / "tool").chmod(0o755)
    (repository / "link").symlink_to("plain")
    shown = cast(str, result(GitDiff(), workspace)["diff"])
    git = ("git", "-c", "core.quotepath=false")
    subprocess.run((*git, "add", "."), cwd=repository, check=True)
    subprocess.run((*git, "rm", "-q", "--cached", "link"), cwd=repository, check=True)
    expected = subprocess.run((*git, "diff", "HEAD"), cwd=repository, capture_output=True)
    told = expected.stdout.decode().splitlines(keepends=True)
    assert shown == "".join(line for line in told if not line.startswith("index "))


def test_new_files_beyond_the_limit_are_left_out_and_that_is_said(
    repository: Path, workspace: Workspace
) -> None:
    (repository / "a").write_text("x" * 600)
    (repository / "b").write_text("y" * 600)
    found = result(GitDiff(), limited(workspace, observation_bytes=1024))
    assert found["truncated"]
    assert "x" * 600 in cast(str, found["diff"])
    assert "y" not in cast(str, found["diff"])


def test_whose_each_line_is_in_a_file_of_both(repository: Path, workspace: Workspace) -> None:
    file = repository / "src" / "a.py"
    users = "mine\none\ntwo\nthree\n"
    file.write_text("mine\none\n2\nthree\nfour\n")
    ours = replace(
        workspace,
        task=task(scope={"must": ["src/a.py"], "shared": ["src/a.py"]}),
        users_work={"src/a.py": users},
    )

    def told() -> list[tuple[int, int, str]]:
        paths = cast(list[dict[str, JsonValue]], result(GitDiff(), ours)["paths"])
        lines = cast(list[dict[str, JsonValue]], paths[0]["lines"])
        return [(cast(int, x["first"]), cast(int, x["last"]), str(x["owner"])) for x in lines]

    def owner() -> str:
        paths = cast(list[dict[str, JsonValue]], result(GitDiff(), ours)["paths"])
        return str(paths[0]["owner"])

    assert told() == [(1, 1, "user"), (3, 3, "yours"), (5, 5, "yours")]
    assert owner() == "yours"
    file.write_text("mine\none\nthree\n")
    assert told() == [(1, 1, "user"), (2, 2, "yours")]
    staged = ("one\n2\nthree\nfour\n", "mine\none\n2\nthree\nfour\n")
    file.write_text(staged[0])
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "fix"],
        cwd=repository,
        check=True,
    )
    file.write_text(staged[1])
    assert told() == [(1, 1, "user")]
    assert owner() == "user", "of the agent's there is nothing in it"


def test_what_git_ignores_and_nobody_expects_is_told(
    repository: Path, workspace: Workspace
) -> None:
    (repository / ".gitignore").write_text("*.log\n*.pyc\n")
    (repository / "before.log").write_text("")
    time.sleep(0.05)
    begun = time.time_ns()
    time.sleep(0.05)
    (repository / "left.log").write_text("")
    (repository / "x.pyc").write_text("")
    ours = replace(workspace, task=task(scope={"generated": ["*.pyc"]}), begun_ns=begun)
    paths = cast(list[dict[str, str]], result(GitDiff(), ours)["paths"])
    assert [(x["path"], x["status"], x["owner"]) for x in paths] == [
        (".gitignore", "??", "unclaimed"),
        ("left.log", "!!", "unclaimed"),
    ]


def test_generated_files_are_told_by_their_folder_and_without_their_text(
    repository: Path, workspace: Workspace
) -> None:
    for name in ("lib/node_modules/a/b.js", "lib/node_modules/c.js", "x.pyc", "mine.txt"):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(f"text of {name}\n")
    scope: JsonValue = {"generated": ["**/node_modules", "**/node_modules/**", "*.pyc"]}
    ours = replace(workspace, task=task(scope=scope))
    found = result(GitDiff(), ours)
    paths = cast(list[dict[str, JsonValue]], found["paths"])
    assert [(x["path"], x["owner"], x["files"]) for x in paths] == [
        ("mine.txt", "unclaimed", None),
        ("lib/node_modules/", "generated", 2),
        ("x.pyc", "generated", None),
    ]
    assert "text of mine.txt" in cast(str, found["diff"])
    assert "text of lib" not in cast(str, found["diff"])
    asked = result(GitDiff(path="lib"), ours)
    assert "text of lib/node_modules/c.js" in cast(str, asked["diff"])


def test_a_file_that_stood_there_is_not_called_the_agents(
    repository: Path, workspace: Workspace
) -> None:
    for name in ("src/tables.py", "src/touched.py"):
        (repository / name).write_text(f"text of {name}\n")
    time.sleep(0.02)  # the kernel's clock of files is coarse
    scope: JsonValue = {"may": ["src/*.py"]}
    ours = replace(workspace, task=task(scope=scope), begun_ns=time.time_ns())
    time.sleep(0.02)
    (repository / "src" / "touched.py").write_text("text of mine\n")
    found = result(GitDiff(), ours)
    paths = cast(list[dict[str, JsonValue]], found["paths"])
    assert [(x["path"], x["owner"]) for x in paths] == [
        ("src/tables.py", "untouched"),
        ("src/touched.py", "yours"),
    ]
    assert "text of mine" in cast(str, found["diff"])
    assert "text of src/tables.py" not in cast(str, found["diff"])


@pytest.mark.parametrize(("count", "told"), [(CROWD - 1, CROWD), (CROWD, 2)])
def test_many_files_that_stood_there_and_nobody_claims_are_told_as_one(
    repository: Path, workspace: Workspace, count: int, told: int
) -> None:
    folder = repository / "node_modules" / "some"
    folder.mkdir(parents=True)
    for number in range(count):
        (folder / f"{number}.js").write_text("theirs\n")
    time.sleep(0.02)  # the kernel's clock of files is coarse
    begun = replace(workspace, begun_ns=time.time_ns())
    time.sleep(0.02)
    (folder / "mine.js").write_text("mine\n")
    found = result(GitDiff(), begun)
    rows = {each["path"]: each for each in cast(list[dict[str, object]], found["paths"])}
    assert len(rows) == told
    assert rows["node_modules/some/mine.js"]["owner"] == "unclaimed"
    assert "+mine\n" in cast(str, found["diff"])
    if told == 2:
        assert rows["node_modules/"]["files"] == count
        assert rows["node_modules/"]["owner"] == "unclaimed"
        assert "theirs" not in cast(str, found["diff"])
    whole = result(GitDiff(path="node_modules"), begun)
    assert len(cast(list[object], whole["paths"])) == count + 1


def test_a_long_difference_is_cut(repository: Path, workspace: Workspace) -> None:
    (repository / "notes.md").write_text("x\n" * 5000)
    found = result(GitDiff(), limited(workspace, observation_bytes=1024))
    assert found["truncated"]
    assert len(cast(str, found["diff"])) == 1024


def test_git_that_cannot_tell(workspace: Workspace) -> None:
    code, message = refusal(GitDiff(), workspace)
    assert code == ErrorCode.NOT_FOUND
    assert "not a git repository" in message
