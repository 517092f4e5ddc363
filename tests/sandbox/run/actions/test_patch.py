"""Patches: what git and difflib write is applied exactly, anything else is refused whole."""

import contextlib
import difflib
import errno
import json
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from sandbox.model.action import ApplyPatch
from sandbox.model.observation import ErrorCode, Observation, PatchResult
from sandbox.model.patch_hunks import patched
from sandbox.model.patch_text import PatchError, parse
from sandbox.run.actions.registry import perform, prepare
from sandbox.run.actions.workspace import Workspace
from tests.sandbox.local_session import LocalSession

LINES = st.lists(
    st.sampled_from(["a", "b", "c", "", " ", "-x", "+x", "\\ y", "@@", "--- q", "é\r"])
)
TEXTS = st.tuples(LINES, st.booleans()).map(
    lambda drawn: "\n".join(drawn[0]) + ("\n" if drawn[0] and drawn[1] else "")
)


def difference(old: str, new: str, context: int = 3) -> str:
    """A diff by difflib, which does not itself mark a missing end of line."""
    text = "--- a/f\n+++ b/f\n"
    lines = difflib.unified_diff(_kept(old), _kept(new), n=context)
    for line in list(lines)[2:]:
        text += line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
    return text


def _kept(text: str) -> list[str]:
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def applied(patch: str, content: str) -> str:
    (file,) = parse(patch.encode())
    return patched(content.encode(), file.hunks).decode()


@settings(deadline=None)
@given(TEXTS, TEXTS, st.integers(0, 4))
def test_a_difference_leads_from_one_text_to_the_other(old: str, new: str, context: int) -> None:
    assume(old != new)
    assert applied(difference(old, new, context), old) == new
    assert applied(difference(new, old, context), new) == old


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS, TEXTS, st.integers(0, 4))
def test_a_difference_by_git_leads_from_one_text_to_the_other(
    old: str, new: str, context: int
) -> None:
    assume(old != new)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("old", old), ("new", new)):
            (Path(folder) / name).mkdir()
            (Path(folder) / name / "f").write_bytes(text.encode())
        command = ["git", "diff", "--no-index", f"-U{context}", "old/f", "new/f"]
        patch = subprocess.run(command, cwd=folder, capture_output=True, check=False).stdout
    patch = patch.replace(b"a/old/f", b"a/f").replace(b"b/new/f", b"b/f")
    (file,) = parse(patch)
    assert patched(old.encode(), file.hunks) == new.encode()


@settings(deadline=None)
@given(st.lists(st.integers(), unique=True, min_size=4, max_size=40), st.data())
def test_a_context_that_differs_is_refused(numbers: list[int], data: st.DataObject) -> None:
    lines = [f"{number}\n" for number in numbers]
    place = data.draw(st.integers(0, len(lines) - 1))
    changed = [*lines[:place], "new\n", *lines[place + 1 :]]
    patch = difference("".join(lines), "".join(changed))
    mutated = data.draw(st.integers(max(0, place - 3), min(len(lines) - 1, place + 3)))
    other = [*lines[:mutated], "other\n", *lines[mutated + 1 :]]
    with pytest.raises(PatchError, match=rf"hunk 1 does not fit .* line {mutated + 1} should be"):
        applied(patch, "".join(other))


@settings(deadline=None)
@given(st.lists(st.integers(), unique=True, min_size=1), st.integers(0, 50))
def test_a_hunk_is_found_where_its_lines_moved(numbers: list[int], count: int) -> None:
    old = "".join(f"{number}\n" for number in numbers)
    new = old + "end\n"
    above = "above\n" * count
    assert applied(difference(old, new), above + old) == above + new


@settings(deadline=None)
@given(st.text())
def test_no_text_raises_anything_else(patch: str) -> None:
    with contextlib.suppress(PatchError):
        parse(patch.encode())


def test_the_nearest_place_is_taken() -> None:
    patch = "--- a/f\n+++ b/f\n@@ -5,1 +5,1 @@\n-x\n+y\n"
    assert applied(patch, "x\n1\n2\nx\n4\n5\n6\nx\n") == "x\n1\n2\ny\n4\n5\n6\nx\n"


@pytest.mark.parametrize(
    ("patch", "problem"),
    [
        ("", "holds no diff"),
        ("hello\n", "holds no diff"),
        ("@@ -1 +1 @@\n-a\n+b\n", "line 1 of the patch: a hunk without the names"),
        ("--- a/f\n+++ b/f\n", "line 3 of the patch: no hunk"),
        ("--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", "line 2 of the patch: the two names differ"),
        (
            "--- a/f\n+++ b/f\n@@ -1,2 +1 @@\n-a\n+b\n",
            "line 3 of the patch: the header of hunk 1 counts 1 old line too many",
        ),
        (
            "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n-b\n+b\n",
            "header of hunk 1 counts 1 old line too few",
        ),
        (
            "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n+c\n",
            "header of hunk 1 counts 1 new line too few",
        ),
        (
            "--- a/f\n+++ b/f\n@@ -1,4 +1,5 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n",
            "3 old lines too many and 4 new lines too many: it says 4 old and 5 new, but 1 and 1",
        ),
        (
            "--- a/f\n+++ b/f\n@@ -1 +1 @@\n*a\n+b\n",
            "or line 4, which ends the hunk, lacks its first sign",
        ),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "both names are /dev/null"),
        ("diff --git a/f b/f\nBinary files a/f and b/f differ\n", "binary files"),
        ("diff --git a/f b/f\nnew file mode 120000\n", "only regular files"),
        ("diff --git a/f b/gg\nold mode 100644\n", "the names cannot be told apart"),
        ('--- "a/f\n+++ "b/f\n@@ -1 +1 @@\n-a\n+b\n', "a quoted name does not end"),
    ],
)
def test_what_is_wrong_with_a_patch_is_named(patch: str, problem: str) -> None:
    with pytest.raises(PatchError) as caught:
        parse(patch.encode())
    assert problem in str(caught.value)


def act(workspace: Workspace, patch: str) -> Observation:
    return perform(prepare(ApplyPatch(patch=patch), workspace), workspace).observation


def files(root: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mode & 0o777)
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }


def git(root: Path, *arguments: str) -> bytes:
    return subprocess.run(
        ["git", "-c", "core.fileMode=true", *arguments], cwd=root, capture_output=True, check=True
    ).stdout


def test_all_that_git_can_say_of_regular_files(repository: Path, workspace: Workspace) -> None:
    """Renames, deletions, new files, modes, odd names: there and back again."""
    (repository / "script").write_text("#!/bin/sh\nexit 0\n")
    (repository / "old name").write_text("".join(f"{number}\n" for number in range(30)))
    (repository / 'tab\t"quote" é\n').write_text("x\n")
    (repository / "empty").write_text("")
    git(repository, "add", ".")
    git(repository, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "second")
    before = files(repository)
    (repository / "script").chmod(0o755)
    (repository / "deep" / "er").mkdir(parents=True)
    (repository / "old name").rename(repository / "deep" / "er" / "new name")
    with (repository / "deep" / "er" / "new name").open("a") as file:
        file.write("more")
    (repository / 'tab\t"quote" é\n').write_text("y\r\n")
    (repository / "notes.md").unlink()
    (repository / "empty").unlink()
    (repository / "fresh").write_text("no end")
    (repository / "fresh").chmod(0o755)
    (repository / "void").write_text("")
    git(repository, "add", ".")
    after = files(repository)
    patch = git(repository, "diff", "--cached", "-M", "HEAD").decode()
    assert "rename from old name" in patch
    reverse = git(repository, "diff", "--cached", "-M", "-R", "HEAD").decode()
    git(repository, "reset", "-q", "--hard", "HEAD")
    assert files(repository) == before
    observation = act(workspace, patch)
    assert observation.status == "ok", observation.message
    assert files(repository) == after
    result = PatchResult.model_validate_json(json.dumps(observation.result))
    reported = {file.path: file for file in result.files}
    assert reported["deep/er/new name"].renamed_from == "old name"
    assert reported["deep/er/new name"].added_lines == 1
    assert reported["notes.md"].change == "deleted"
    assert reported["fresh"].change == "added"
    assert reported["script"].change == "modified"
    assert act(workspace, reverse).status == "ok"
    assert files(repository) == before


GOOD = "--- a/notes.md\n+++ b/notes.md\n@@ -1 +1 @@\n-mine\n+yours\n"
NEW = "--- /dev/null\n+++ b/x/y/new\n@@ -0,0 +1 @@\n+new\n"


@pytest.mark.parametrize(
    ("patch", "code", "message"),
    [
        (GOOD + "--- a/src/a.py\n+++ b/src/a.py\n@@ -1,2 +1,2 @@\n one\n-zwei\n+2\n",
         ErrorCode.PATCH_REJECTED,
         ("src/a.py: hunk 1 does not fit anywhere in the file: "
         "line 2 should be 'zwei', but is 'two'")),
        (GOOD + "--- a/gone\n+++ b/gone\n@@ -1 +1 @@\n-a\n+b\n",
         ErrorCode.PATCH_REJECTED, "gone does not exist"),
        (GOOD + "--- /dev/null\n+++ b/src/a.py\n@@ -0,0 +1 @@\n+b\n",
         ErrorCode.PATCH_REJECTED, "src/a.py exists already"),
        (GOOD + "--- a/src/a.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n",
         ErrorCode.PATCH_REJECTED, "does not remove all of it"),
        (GOOD + "--- a/link\n+++ b/link\n@@ -1 +1 @@\n-mine\n+b\n",
         ErrorCode.FORBIDDEN_PATH, "link leads out of the worktree"),
        (GOOD + "--- a/src\n+++ b/src\n@@ -1 +1 @@\n-mine\n+b\n",
         ErrorCode.PATCH_REJECTED, "src is a directory"),
        (GOOD + "--- a/../f\n+++ b/../f\n@@ -1 +1 @@\n-a\n+b\n", ErrorCode.FORBIDDEN_PATH, "`..`"),
        (GOOD + "--- /f\n+++ /f\n@@ -1 +1 @@\n-a\n+b\n", ErrorCode.FORBIDDEN_PATH, "absolute"),
        (GOOD + "--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+b\n",
         ErrorCode.FORBIDDEN_PATH, "belongs to git"),
        (GOOD + GOOD, ErrorCode.PATCH_REJECTED, "its new lines are already there, at line 1"),
        (GOOD + "--- a/src/a.py\n+++ b/src/a.py\n@@ -3 +3 @@\n-three\n\\ No newline\n+3\n",
         ErrorCode.PATCH_REJECTED, "should be 'three' without an end of line, but is 'three'"),
        (GOOD + "--- a/src/a.py\n+++ b/src/a.py\n@@ -1,2 +1,2 @@\n-one\n+1\n\\ No newline\n two\n",
         ErrorCode.PATCH_REJECTED, "line 1 would have no end"),
        (GOOD + "--- a/src/a.py\n+++ b/src/a.py\n@@ -9,0 +9 @@\n+b\n",
         ErrorCode.PATCH_REJECTED, "hunk 1 adds after line 9"),
        ("nonsense", ErrorCode.PATCH_REJECTED, "holds no diff"),
    ],
)  # fmt: skip
def test_all_or_nothing(
    repository: Path, workspace: Workspace, patch: str, code: ErrorCode, message: str
) -> None:
    (repository / "link").symlink_to("/etc/passwd")
    before = files(repository)
    observation = act(workspace, patch)
    assert observation.error_code == code
    assert message in (observation.message or "")
    assert files(repository) == before


def test_a_write_that_fails_puts_everything_back(
    repository: Path, workspace: Workspace, session: LocalSession
) -> None:
    session.failing[b"src/a.py"] = errno.ENOSPC
    before = files(repository)
    patch = GOOD + NEW + "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-one\n+1\n"
    observation = act(workspace, patch)
    assert observation.error_code == ErrorCode.DISK_FULL
    assert "Nothing was changed" in (observation.message or "")
    assert files(repository) == before
    assert not (repository / "x").exists()


def test_one_file_twice_and_a_patch_without_prefixes(
    repository: Path, workspace: Workspace
) -> None:
    patch = GOOD.replace("a/notes", "notes").replace("b/notes", "notes")
    patch += "--- notes.md\n+++ notes.md\n@@ -1 +1,2 @@\n yours\n+too\n-- \n2.39\n"
    performed = perform(prepare(ApplyPatch(patch="From: me\n\n" + patch), workspace), workspace)
    assert performed.observation.status == "ok"
    assert performed.changed == ("notes.md",)
    assert (repository / "notes.md").read_text() == "yours\ntoo\n"


def test_windows_lines_must_be_said(repository: Path, workspace: Workspace) -> None:
    (repository / "dos").write_bytes(b"one\r\ntwo\r\n")
    patch = "--- a/dos\r\n+++ b/dos\r\n@@ -1,2 +1,2 @@\r\n one{}\n-two{}\n+2{}\n"
    assert act(workspace, patch.replace("{}", "")).error_code == ErrorCode.PATCH_REJECTED
    assert act(workspace, patch.replace("{}", "\r")).status == "ok"
    assert (repository / "dos").read_bytes() == b"one\r\n2\r\n"
