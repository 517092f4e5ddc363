"""Paths: none leaves the worktree, any file name will do."""

import os
from pathlib import Path
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.model.action import (
    ApplyPatch,
    GitDiff,
    ListFiles,
    ReadFile,
    RunCommand,
    RunTests,
    SearchRepository,
    WriteFile,
)
from sandbox.model.observation import ErrorCode
from sandbox.model.path_text import text
from sandbox.run.actions.registry import perform, prepare
from sandbox.run.actions.workspace import Workspace
from tests.sandbox.run.actions.acting import refusal, result


@pytest.mark.parametrize("path", ["/etc/passwd", "..", "a/../../b", "a/..", "link", "deep/link/x"])
@pytest.mark.parametrize("kind", ["read", "write", "list", "search", "run", "patch"])
def test_no_path_leaves_the_worktree(
    root: Path, workspace: Workspace, path: str, kind: str
) -> None:
    (root / "a").mkdir()
    (root / "deep").mkdir()
    (root / "link").symlink_to("../outside")
    (root / "deep" / "link").symlink_to("/")
    (root.parent / "outside").write_text("secret")
    diff = f"--- {path}\n+++ {path}\n@@ -1 +1 @@\n-secret\n+x\n"
    action = {
        "read": ReadFile(path=path),
        "write": WriteFile(path=path, content="x"),
        "list": ListFiles(path=path),
        "search": SearchRepository(pattern="secret", path=path),
        "run": RunCommand(command="pwd", cwd=path),
        "patch": ApplyPatch(patch=diff),
    }[kind]
    code, message = refusal(action, workspace)
    assert code == ErrorCode.FORBIDDEN_PATH
    assert path in message
    assert (root.parent / "outside").read_text() == "secret"


@pytest.mark.parametrize("path", [".git/config", "x/.git/hooks/pre-commit", "./.git//x", "g/x"])
def test_what_is_gits_is_not_written(root: Path, workspace: Workspace, path: str) -> None:
    (root / ".git").mkdir()
    (root / "g").symlink_to(".git")
    code, message = refusal(WriteFile(path=path, content=""), workspace)
    assert code == ErrorCode.FORBIDDEN_PATH
    assert "belongs to git" in message


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_what_is_no_path(workspace: Workspace, path: str) -> None:
    assert refusal(ReadFile(path=path), workspace)[0] == ErrorCode.BAD_ARGUMENTS


def test_links_within_the_worktree_are_followed(root: Path, workspace: Workspace) -> None:
    (root / "a").mkdir()
    (root / "b").symlink_to("a/../a")
    performed = perform(prepare(WriteFile(path="b/x", content="1"), workspace), workspace)
    assert performed.changed == ("a/x",)
    assert result(ReadFile(path="b/x"), workspace)["content"] == "1"
    assert prepare(ReadFile(path="b/x"), workspace).subject.paths == ("a/x",)
    (root / "loop").symlink_to("loop")
    assert refusal(ReadFile(path="loop"), workspace)[0] == ErrorCode.FORBIDDEN_PATH


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.binary(min_size=1, max_size=20).filter(
        lambda name: not {0, ord("/")} & set(name) and name not in (b".", b"..", b".git")
    )
)
def test_any_file_name_can_be_written_read_listed_and_found(
    root: Path, workspace: Workspace, name: bytes
) -> None:
    path = text(name)
    assert perform(
        prepare(WriteFile(path=path, content="needle\n"), workspace), workspace
    ).changed == (path,)
    assert (root / os.fsdecode(name)).exists()
    assert result(ReadFile(path=path), workspace)["content"] == "needle\n"
    listed = cast(list[dict[str, object]], result(ListFiles(), workspace)["entries"])
    assert [entry["path"] for entry in listed] == [path]
    found = result(SearchRepository(pattern="needle"), workspace)["matches"]
    assert found == [{"path": path, "line": 1, "text": "needle"}]
    (root / os.fsdecode(name)).unlink()


def test_what_rules_look_at(workspace: Workspace) -> None:
    assert prepare(RunCommand(command="ls"), workspace).subject.command == "ls"
    assert prepare(RunTests(), workspace).subject.command == "python -m pytest -q"
    assert prepare(RunTests(command="x"), workspace).subject.command == "x"
    assert prepare(ReadFile(path="./a//b"), workspace).subject.paths == ("a/b",)
    assert prepare(ReadFile(path="/etc"), workspace).subject.paths == ("/etc",)
    assert prepare(GitDiff(), workspace).subject.paths == ()
    patch = ApplyPatch(
        patch="--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+b\n"
    )
    assert prepare(patch, workspace).subject.paths == ("x", "y")
    assert prepare(ApplyPatch(patch="?"), workspace).subject.paths == ()


@pytest.mark.parametrize("kind", ["read", "write", "new", "patch", "delete"])
@pytest.mark.parametrize("swapped", ["the file", "its folder"])
def test_a_link_that_is_put_there_after_the_policy_has_looked_leads_nowhere(
    root: Path, workspace: Workspace, kind: str, swapped: str
) -> None:
    for folder in ("open", "closed"):
        (root / folder).mkdir()
        (root / folder / "x").write_text("old\n")
    path = "open/y" if kind == "new" else "open/x"
    action = {
        "read": ReadFile(path=path),
        "write": WriteFile(path=path, content="new"),
        "new": WriteFile(path=path, content="new"),
        "patch": ApplyPatch(patch=f"--- {path}\n+++ {path}\n@@ -1 +1 @@\n-old\n+new\n"),
        "delete": ApplyPatch(patch=f"--- {path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n"),
    }[kind]
    prepared = prepare(action, workspace)
    assert prepared.subject.paths == (path,)
    if swapped == "the file":
        (root / path).unlink(missing_ok=True)
        (root / path).symlink_to("../closed/x")
    else:
        (root / "open").rename(root / "moved")
        (root / "open").symlink_to("closed")
    performed = perform(prepared, workspace)
    assert performed.observation.status == "error"
    assert performed.changed == ()
    assert [each.name for each in (root / "closed").iterdir()] == ["x"]
    assert (root / "closed" / "x").read_text() == "old\n"
