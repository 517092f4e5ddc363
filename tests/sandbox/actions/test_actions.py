"""Actions on a real worktree: what they give, and the code and sentence of each refusal."""

import base64
import errno
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from sandbox.actions.registry import perform, subject
from sandbox.actions.run_tests import Counts, counts_of
from sandbox.actions.workspace import Workspace
from sandbox.engines.base import Session
from sandbox.model.action import (
    Action,
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
from sandbox.model.path import text
from tests.sandbox.local_session import LocalSession
from tests.sandbox.worlds import task


def result(action: Action, workspace: Workspace) -> dict[str, object]:
    observation = perform(action, workspace).observation
    assert observation.status == "ok", observation.message
    return cast(dict[str, object], observation.result)


def refusal(action: Action, workspace: Workspace) -> tuple[ErrorCode | None, str]:
    performed = perform(action, workspace)
    assert performed.observation.status == "error"
    assert performed.changed == ()
    return performed.observation.error_code, performed.observation.message or ""


def limited(workspace: Workspace, **limits: int) -> Workspace:
    return replace(workspace, task=task(limits=dict(limits)))


# Paths


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


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


# read_file


def test_a_file_is_read_whole_or_in_part(root: Path, workspace: Workspace) -> None:
    (root / "f").write_text("1\n2\n3\n4")
    whole = result(ReadFile(path="f"), workspace)
    assert whole == {
        "path": "f",
        "content": "1\n2\n3\n4",
        "encoding": "utf-8",
        "size": 7,
        "lines": 4,
        "truncated": False,
    }
    part = result(ReadFile(path="f", first_line=2, line_limit=2), workspace)
    assert (part["content"], part["truncated"]) == ("2\n3\n", True)
    assert result(ReadFile(path="f", first_line=4, line_limit=9), workspace)["content"] == "4"
    code, message = refusal(ReadFile(path="f", first_line=5), workspace)
    assert (code, message) == (ErrorCode.BAD_ARGUMENTS, "f has 4 lines; first_line is 5.")


def test_an_empty_file_and_the_end_of_the_last_line(root: Path, workspace: Workspace) -> None:
    (root / "empty").write_text("")
    assert result(ReadFile(path="empty"), workspace)["lines"] == 0
    (root / "f").write_text("1\n")
    assert result(ReadFile(path="f"), workspace)["lines"] == 1
    assert refusal(ReadFile(path="f", first_line=2), workspace)[0] == ErrorCode.BAD_ARGUMENTS


def test_long_content_is_cut_at_a_line_or_a_character(root: Path, workspace: Workspace) -> None:
    small = limited(workspace, observation_bytes=1024)
    (root / "lines").write_text("é" * 100 + "\n" + ("x" * 99 + "\n") * 20)
    content = cast(str, result(ReadFile(path="lines"), small)["content"])
    assert content.endswith("x\n")
    assert len(content.encode()) <= 1024
    (root / "long").write_text("x" + "é" * 2000)
    long = result(ReadFile(path="long"), small)
    assert long["truncated"]
    assert len(cast(str, long["content"]).encode()) == 1023


def test_what_is_no_text_is_base64(root: Path, workspace: Workspace) -> None:
    (root / "f").write_bytes(b"\xff\0" * 1000)
    found = result(ReadFile(path="f"), workspace)
    assert found["encoding"] == "base64"
    assert base64.b64decode(cast(str, found["content"])) == b"\xff\0" * 1000
    assert (found["lines"], found["truncated"]) == (None, False)
    cut = result(ReadFile(path="f"), limited(workspace, observation_bytes=1024))
    assert cut["truncated"]
    assert len(cast(str, cut["content"])) == 1024


def test_files_that_cannot_be_read(root: Path, workspace: Workspace) -> None:
    (root / "folder").mkdir()
    (root / "f").write_text("")
    os.truncate(root / "f", (16 << 20) + 1)
    assert refusal(ReadFile(path="gone"), workspace)[0] == ErrorCode.NOT_FOUND
    assert refusal(ReadFile(path="folder"), workspace)[0] == ErrorCode.NOT_A_FILE
    assert refusal(ReadFile(path="f/x"), workspace)[0] == ErrorCode.NOT_A_FOLDER
    assert refusal(ReadFile(path="f"), workspace)[0] == ErrorCode.TOO_LARGE


# list_files


def test_folders_are_listed(root: Path, workspace: Workspace) -> None:
    for name in (".git/config", "a/b/c.py", "a/d.txt", "e.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("12345")

    def listed(**arguments: object) -> list[str]:
        found = result(ListFiles.model_validate(arguments), workspace)
        assert not found["truncated"]
        return [
            cast(str, entry["path"]) for entry in cast(list[dict[str, object]], found["entries"])
        ]

    assert listed() == [".git", "a", "e.py"]
    assert listed(recursive=True) == [".git", "a", "a/b", "a/b/c.py", "a/d.txt", "e.py"]
    assert listed(recursive=True, glob="**/*.py") == ["a/b/c.py", "e.py"]
    assert listed(path="a") == ["a/b", "a/d.txt"]
    assert listed(path="./a/b/") == ["a/b/c.py"]
    assert refusal(ListFiles(path="e.py"), workspace)[0] == ErrorCode.NOT_A_FOLDER
    assert refusal(ListFiles(path="x"), workspace)[0] == ErrorCode.NOT_FOUND
    code, message = refusal(ListFiles(glob="a**"), workspace)
    assert code == ErrorCode.BAD_ARGUMENTS
    assert "must stand alone" in message


def test_a_long_list_is_cut(root: Path, workspace: Workspace) -> None:
    for number in range(50):
        (root / f"file{number}").write_text("")
    found = result(ListFiles(), limited(workspace, observation_bytes=1024))
    assert found["truncated"]
    assert 10 < len(cast(list[object], found["entries"])) < 25


# search_repo


def test_lines_are_found(root: Path, workspace: Workspace) -> None:
    (root / "a.py").write_text("def f():\n    return a.b  # x:y\n")
    (root / "sub").mkdir()
    (root / "sub" / "b.txt").write_text("DEF a+b\n")
    (root / ".git").mkdir()
    (root / ".git" / "c").write_text("def\n")
    (root / "binary").write_bytes(b"def\0")

    def found(**arguments: object) -> list[tuple[object, ...]]:
        matches = result(SearchRepository.model_validate(arguments), workspace)["matches"]
        return sorted(tuple(match.values()) for match in cast(list[dict[str, object]], matches))

    assert found(pattern="^def") == [("a.py", 1, "def f():")]
    assert found(pattern="x:y") == [("a.py", 2, "    return a.b  # x:y")]
    assert found(pattern="def", ignore_case=True, glob="*.txt") == [("sub/b.txt", 1, "DEF a+b")]
    assert found(pattern="a+b", fixed=True) == [("sub/b.txt", 1, "DEF a+b")]
    assert found(pattern="a+b", path="sub/b.txt", fixed=True) == [("sub/b.txt", 1, "DEF a+b")]
    assert found(pattern="DEF", path="sub") == [("sub/b.txt", 1, "DEF a+b")]
    assert found(pattern="-f") == []
    assert found(pattern="nowhere") == []


def test_searches_that_cannot_be_done(root: Path, workspace: Workspace) -> None:
    (root / "f").write_text("x\n")
    code, message = refusal(SearchRepository(pattern="("), workspace)
    assert code == ErrorCode.BAD_ARGUMENTS
    assert "Unmatched (" in message
    assert refusal(SearchRepository(pattern="x\0"), workspace)[0] == ErrorCode.BAD_ARGUMENTS
    assert refusal(SearchRepository(pattern="x", path="gone"), workspace)[0] == ErrorCode.NOT_FOUND


def test_many_and_long_matches_are_cut(root: Path, workspace: Workspace) -> None:
    (root / "f").write_text(("x" * 3000 + "\n") + "x\n" * 3000)
    found = result(SearchRepository(pattern="x"), workspace)
    matches = cast(list[dict[str, str]], found["matches"])
    assert (len(matches), len(matches[0]["text"]), found["truncated"]) == (1000, 1000, True)
    found = result(SearchRepository(pattern="x"), limited(workspace, observation_bytes=2048))
    assert found["truncated"]
    assert len(str(found)) < 4096


# write_file


def test_a_file_is_written(root: Path, workspace: Workspace) -> None:
    performed = perform(WriteFile(path="a/b/./c", content="é"), workspace)
    assert performed.observation.result == {"path": "a/b/./c", "size": 2, "created": True}
    assert performed.changed == ("a/b/c",)
    made = root / "a/b/c"
    assert (made.read_bytes(), made.stat().st_mode & 0o777) == ("é".encode(), 0o644)
    result(WriteFile(path="a/b/c", content="AP8=", encoding="base64", executable=True), workspace)
    assert (made.read_bytes(), made.stat().st_mode & 0o777) == (b"\0\xff", 0o755)
    assert result(WriteFile(path="a/b/c", content=""), workspace)["created"] is False
    assert made.stat().st_mode & 0o777 == 0o755
    result(WriteFile(path="a/b/c", content="", executable=False), workspace)
    assert made.stat().st_mode & 0o777 == 0o644


def test_files_that_cannot_be_written(
    root: Path, workspace: Workspace, session: LocalSession
) -> None:
    (root / "f").write_text("kept")
    (root / "folder").mkdir()
    bad = WriteFile(path="f", content="a?", encoding="base64")
    assert refusal(bad, workspace)[0] == ErrorCode.BAD_ARGUMENTS
    assert refusal(WriteFile(path=".", content=""), workspace)[0] == ErrorCode.NOT_A_FILE
    assert refusal(WriteFile(path="folder", content=""), workspace)[0] == ErrorCode.NOT_A_FILE
    long = WriteFile(path="x" * 300, content="")
    assert refusal(long, workspace)[0] == ErrorCode.BAD_ARGUMENTS
    for code, expected in [
        (errno.ENOSPC, ErrorCode.DISK_FULL),
        (errno.EDQUOT, ErrorCode.DISK_FULL),
        (errno.EACCES, ErrorCode.PERMISSION_DENIED),
        (errno.EROFS, ErrorCode.PERMISSION_DENIED),
        (errno.EIO, ErrorCode.PERMISSION_DENIED),
    ]:
        session.failing[b"f"] = code
        assert refusal(WriteFile(path="f", content="x"), workspace)[0] == expected
    assert (root / "f").read_text() == "kept"


# run_command


def test_a_command_is_run(root: Path, workspace: Workspace) -> None:
    (root / "sub").mkdir()
    line = "cat; pwd; echo oops >&2; printf '\\xff'; exit 3"
    found = result(RunCommand(command=line, cwd="sub", stdin="é\n"), workspace)
    assert found["exit_code"] == 3
    assert found["signal"] is None
    assert found["stdout"] == f"é\n{root}/sub\n�"
    assert found["stderr"] == "oops\n"
    assert found["timed_out"] is False
    assert result(RunCommand(command="kill -9 $$"), workspace)["signal"] == 9


def test_the_environment_is_fixed(
    workspace: Workspace, session: LocalSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "1")
    result(RunCommand(command="true"), workspace)
    (command,) = session.commands
    assert command.environment["PATH"].startswith("/opt/venv/bin:")
    assert command.environment["PYTHONHASHSEED"] == "0"
    assert "SECRET" not in command.environment
    assert command.user.uid == 10001


def test_output_is_cut(workspace: Workspace) -> None:
    small = limited(workspace, observation_bytes=1024)
    found = result(RunCommand(command="head -c 5000 /dev/zero | tr '\\0' x"), small)
    assert (len(cast(str, found["stdout"])), found["stdout_truncated"]) == (1024, True)
    assert found["stderr_truncated"] is False


def test_a_command_that_takes_too_long_keeps_its_output(workspace: Workspace) -> None:
    action = RunCommand(command="echo here; sleep 99", timeout_seconds=0.3)
    observation = perform(action, workspace).observation
    assert observation.error_code == ErrorCode.TIMEOUT
    assert "killed after 0.3 seconds" in (observation.message or "")
    assert observation.result["stdout"] == "here\n"
    assert observation.result["timed_out"] is True


def test_a_command_has_the_least_of_all_times(workspace: Workspace, session: LocalSession) -> None:
    result(RunCommand(command="true", timeout_seconds=9999), workspace)
    result(RunCommand(command="true", timeout_seconds=7), workspace)
    hurried = replace(workspace, deadline=time.monotonic() + 3)
    result(RunCommand(command="true"), hurried)
    given = [command.timeout or 0 for command in session.commands]
    assert given[:2] == [300, 7]
    assert 0 < given[2] <= 3


def test_commands_that_cannot_be_run(
    root: Path, workspace: Workspace, session: LocalSession
) -> None:
    (root / "f").write_text("")
    cases = [
        (RunCommand(command="true", cwd="gone"), ErrorCode.NOT_FOUND),
        (RunCommand(command="true", cwd="f"), ErrorCode.NOT_A_FOLDER),
        (RunCommand(command="a\0b"), ErrorCode.BAD_ARGUMENTS),
    ]
    for action, code in cases:
        assert refusal(action, workspace)[0] == code
    session.lost = BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
    found, message = refusal(RunCommand(command="true"), workspace)
    assert found == ErrorCode.NO_PROCESSES
    assert "/bin/bash" in message


# run_tests

TESTS = """
import pytest
def test_good(): pass
def test_bad(): assert False
@pytest.mark.skip
def test_skipped(): pass
@pytest.fixture
def broken(): raise ValueError
def test_error(broken): pass
"""


def test_outcomes_are_counted(root: Path, workspace: Workspace) -> None:
    (root / "test_x.py").write_text(TESTS)
    before = set(Path("/tmp").glob("report-*"))
    found = result(RunTests(), workspace)
    counted = [found[name] for name in ("passed", "failed", "errors", "skipped", "exit_code")]
    assert counted == [1, 1, 1, 1, 1]
    assert found["command"] == "python -m pytest -q"
    assert set(Path("/tmp").glob("report-*")) == before
    assert not list(root.glob("*.xml"))


def test_without_a_report_there_are_no_counts(workspace: Workspace) -> None:
    found = result(RunTests(command="echo '5 passed'"), workspace)
    assert found["passed"] is None
    assert found["stdout"] == "5 passed\n"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<testsuite",
        b'<testsuite tests="x" failures="0" errors="0" skipped="0"/>',
        b'<testsuite tests="1"/>',
        b'<!DOCTYPE x [<!ENTITY a "b">]><testsuite tests="1" failures="0" errors="0" skipped="0"/>',
    ],
)
def test_what_is_no_report(content: bytes) -> None:
    assert counts_of(content) == Counts()


# git_diff


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


def test_a_long_difference_is_cut(repository: Path, workspace: Workspace) -> None:
    (repository / "notes.md").write_text("x\n" * 5000)
    found = result(GitDiff(), limited(workspace, observation_bytes=1024))
    assert found["truncated"]
    assert len(cast(str, found["diff"])) == 1024


def test_git_that_cannot_tell(workspace: Workspace) -> None:
    code, message = refusal(GitDiff(), workspace)
    assert code == ErrorCode.NOT_FOUND
    assert "not a git repository" in message


def test_a_lost_session_is_an_error(session: LocalSession, workspace: Workspace) -> None:
    class LostError(Exception):
        pass

    session.lost = LostError()
    with pytest.raises(LostError):
        perform(RunCommand(command="true"), replace(workspace, session=cast(Session, session)))
