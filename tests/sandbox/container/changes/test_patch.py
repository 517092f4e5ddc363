# ruff: noqa: ARG002 - the contents of one file, whatever its path
import subprocess
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.container.changes.patch import render, safe
from sandbox.model.change import Change, FileState, Owner
from sandbox.model.session import FileKind


class Texts:
    """Contents before and after, by path."""

    def __init__(self, before: bytes | None, after: bytes | None) -> None:
        self._before, self._after = before, after

    def read_before(self, path: bytes, limit: int) -> bytes | None:
        return self._before

    def read_after(self, path: bytes, limit: int) -> bytes | None:
        return self._after


def state(content: bytes | None, **changes: object) -> FileState | None:
    if content is None:
        return None
    base = FileState(
        kind=FileKind.FILE, mode=0o644, uid=10001, gid=10001, size=len(content), digest="x"
    )
    return base.model_copy(update=changes)


def shown(before: bytes | None, after: bytes | None, path: str = "/w/a.py") -> str:
    old, new = state(before, digest="y"), state(after)
    change = Change(path=path, owner=Owner.MUST, before=old, after=new)
    return render((change,), Texts(before, after))


def test_a_change_is_a_unified_diff_under_its_owner() -> None:
    before = "".join(f"{n}\n" for n in range(20)).encode()
    after = before.replace(b"10\n", b"ten\n")
    assert shown(before, after) == (
        "# must: /w/a.py\n--- /w/a.py\n+++ /w/a.py\n@@ -8,7 +8,7 @@\n 7\n 8\n 9\n-10\n+ten\n"
        " 11\n 12\n 13\n"
    )


def test_a_missing_end_of_line_is_shown() -> None:
    assert shown(b"a\n", b"a").endswith("@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n")


def test_additions_and_deletions_name_what_there_is() -> None:
    assert "# added: file, mode 644\n--- /dev/null\n+++ /w/a.py\n@@ -0,0 +1 @@\n+x" in shown(
        None, b"x\n"
    )
    assert "# deleted: file, mode 644\n--- /w/a.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x" in shown(
        b"x\n", None
    )


def test_what_is_no_text_is_noted() -> None:
    assert "# not text\n" in shown(b"\xff", b"a\n")
    assert "# not text\n" in shown(b"\0", b"a\n")
    assert "# not shown: too large" in shown(b"a\n", b"a" * ((1 << 20) + 1))


def test_names_and_lines_cannot_speak_to_a_terminal() -> None:
    text = shown(b"\x1b]0;title\x07\r\n", "\u202eright\u2066\x9b\n".encode(), "/w/\x1b[2J\nx")
    assert not any(ord(letter) < 32 and letter != "\n" for letter in text)
    assert "/w/\\x1b[2J\\nx" in text
    assert "+\\u202eright\\u2066\\x9b" in text
    assert "-\\x1b]0;title\\x07\\r" in text


def test_modes_and_links_are_told_in_words() -> None:
    link = state(b"", kind=FileKind.SYMLINK, digest=None, target="/etc\n")
    change = Change(path="/w/a", owner=Owner.USER, before=state(b"x", mode=0o755), after=link)
    text = render((change,), Texts(b"x\n", None))
    assert "# was file, mode 755, is symlink to '/etc\\n', mode 644\n" in text
    same = Change(path="/w/a", owner=Owner.USER, before=state(b"x"), after=state(b"x", mode=0o600))
    assert render((same,), Texts(None, None)).endswith("# was file, mode 644, is file, mode 600\n")


def test_generated_files_and_git_are_counted() -> None:
    changes = tuple(
        Change(path=f"/w/{number}", owner=owner, before=None, after=state(b"x"))
        for number, owner in enumerate((Owner.GENERATED, Owner.GENERATED, Owner.GIT))
    )
    assert render(changes, Texts(None, None)) == (
        "# 2 paths generated, not shown\n# 1 path in git's own folder, not shown\n"
    )


def test_a_file_that_was_written_anew_from_end_to_end_is_quick() -> None:
    before = b"".join(b"%d a\n" % (n % 7) for n in range(9000))
    after = b"".join(b"%d b\n" % (n % 7) for n in range(9000))
    text = shown(before, after)
    assert "@@ -1,9000 +1,9000 @@" in text


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n"]), max_size=40).map("".join)


@settings(max_examples=40, deadline=None)
@given(LINES, LINES, st.sampled_from(["", "end"]), st.sampled_from(["", "end"]))
def test_the_patch_applies(before: str, after: str, one: str, other: str) -> None:
    old, new = before + one, after + other
    if old == new or not old or not new:
        return
    patch = shown(old.encode(), new.encode())
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "a.py"
        target.write_text(old)
        command = ["git", "apply", "-p2", "--unidiff-zero", "-"]
        subprocess.run(command, cwd=folder, input=patch.encode(), check=True, capture_output=True)
        assert target.read_text() == new


@given(st.text())
def test_what_is_safe_can_be_stored_and_holds_no_escape(text: str) -> None:
    assert not {"\x1b", "\x9b", "\r", "\x07"} & set(safe(text))
    safe(text).encode()
