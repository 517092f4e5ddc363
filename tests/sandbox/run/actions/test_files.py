"""Reading, listing, searching and writing files of a real worktree."""

import base64
import errno
import os
from pathlib import Path
from typing import cast

from sandbox.model.action import ApplyPatch, ListFiles, ReadFile, SearchRepository, WriteFile
from sandbox.model.observation import ErrorCode
from sandbox.run.actions.registry import perform, prepare
from sandbox.run.actions.workspace import Workspace
from tests.sandbox.local_session import LocalSession
from tests.sandbox.run.actions.acting import limited, refusal, result


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


def test_what_would_block_is_not_opened(root: Path, workspace: Workspace) -> None:
    os.mkfifo(root / "pipe")
    assert refusal(ReadFile(path="pipe"), workspace)[0] == ErrorCode.NOT_A_FILE
    assert refusal(WriteFile(path="pipe", content=""), workspace)[0] == ErrorCode.NOT_A_FILE
    assert result(SearchRepository(pattern="x"), workspace)["matches"] == []
    assert result(SearchRepository(pattern="x", path="pipe"), workspace)["matches"] == []
    patch = ApplyPatch(patch="--- a/pipe\n+++ b/pipe\n@@ -1 +1 @@\n-a\n+b\n")
    code, message = refusal(patch, workspace)
    assert code == ErrorCode.PATCH_REJECTED
    assert "pipe is a fifo, not a regular file" in message


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


def test_a_file_is_written(root: Path, workspace: Workspace) -> None:
    performed = perform(prepare(WriteFile(path="a/b/./c", content="é"), workspace), workspace)
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
