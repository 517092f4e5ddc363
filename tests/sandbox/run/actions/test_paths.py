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
from sandbox.run.actions.registry import perform, subject
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
    performed = perform(WriteFile(path="b/x", content="1"), workspace)
    assert performed.changed == ("a/x",)
    assert result(ReadFile(path="b/x"), workspace)["content"] == "1"
    assert subject(ReadFile(path="b/x"), workspace).paths == ("a/x",)
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
    assert perform(WriteFile(path=path, content="needle\n"), workspace).changed == (path,)
    assert (root / os.fsdecode(name)).exists()
    assert result(ReadFile(path=path), workspace)["content"] == "needle\n"
    listed = cast(list[dict[str, object]], result(ListFiles(), workspace)["entries"])
    assert [entry["path"] for entry in listed] == [path]
    found = result(SearchRepository(pattern="needle"), workspace)["matches"]
    assert found == [{"path": path, "line": 1, "text": "needle"}]
    (root / os.fsdecode(name)).unlink()


def test_what_rules_look_at(workspace: Workspace) -> None:
    assert subject(RunCommand(command="ls"), workspace).command == "ls"
    assert subject(RunTests(), workspace).command == "python -m pytest -q"
    assert subject(RunTests(command="x"), workspace).command == "x"
    assert subject(ReadFile(path="./a//b"), workspace).paths == ("a/b",)
    assert subject(ReadFile(path="/etc"), workspace).paths == ("/etc",)
    assert subject(GitDiff(), workspace).paths == ()
    patch = ApplyPatch(
        patch="--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+b\n"
    )
    assert subject(patch, workspace).paths == ("x", "y")
    assert subject(ApplyPatch(patch="?"), workspace).paths == ()
