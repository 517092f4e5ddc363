"""Candidates without one part of their change."""

from hypothesis import given
from hypothesis import strategies as st

from sandbox.container.candidate import Candidate, CandidateFile
from sandbox.model.change import Change, ChangeSet, FileState, Owner
from sandbox.model.session import FileKind
from sandbox.run.validate.hunks import (
    Hunk,
    changes_without,
    hunks,
    leave_out,
    redundant,
    undeclared,
)
from tests.sandbox.worlds import task

ROOT = "/home/agent/toy"
OLD = b"".join(b"%d\n" % number for number in range(30))
NEW = OLD.replace(b"3\n", b"three\n", 1).replace(b"\n20\n", b"\ntwenty\n", 1)


def state(kind: FileKind = FileKind.FILE) -> FileState:
    return FileState(kind=kind, mode=0o644, uid=1, gid=1, size=1, digest="d")


def change(path: str, before: FileState | None, after: FileState | None) -> Change:
    return Change(path=f"{ROOT}/{path}", owner=Owner.MUST, before=before, after=after)


def candidate(deleted: tuple[str, ...] = (), **files: bytes) -> Candidate:
    content = {path: CandidateFile(data, executable=False) for path, data in files.items()}
    return Candidate(content, deleted, {})


def change_set(*changes: Change) -> ChangeSet:
    return ChangeSet(source="overlay", changes=changes, git=None)


CHANGED = change_set(change("a", state(), state()))


def parts(given_candidate: Candidate, before: dict[str, bytes], changes: ChangeSet) -> list[Hunk]:
    return list(hunks(given_candidate, changes, ROOT, before.get))


def test_each_hunk_is_left_out_alone() -> None:
    whole = candidate(a=NEW)
    first, second = parts(whole, {"a": OLD}, CHANGED)
    assert leave_out(whole, first).files["a"].content == NEW.replace(b"three", b"3")
    assert leave_out(whole, second).files["a"].content == NEW.replace(b"twenty", b"20")
    assert (first.name, first.text) == ("hunk 1 of a", "3\nthree\n")
    (kept,) = changes_without(CHANGED, first, ROOT).changes
    assert kept.after is not None
    assert kept.after.digest != "d"


def test_a_file_that_comes_is_one_hunk_and_takes_its_folders_along() -> None:
    whole = Candidate({"new/deep/b": CandidateFile(b"1\n2\n", executable=True)}, (), {})
    folders = [change(path, None, state(FileKind.DIRECTORY)) for path in ("new", "new/deep")]
    changes = change_set(*folders, change("new/deep/b", None, state()))
    (hunk,) = parts(whole, {}, changes)
    assert leave_out(whole, hunk).files == {}
    assert changes_without(changes, hunk, ROOT).changes == ()


def test_folders_with_something_else_in_them_stay() -> None:
    other = change("new/c", None, state())
    changes = change_set(change("new", None, state(FileKind.DIRECTORY)), other)
    gone = Hunk("new/b", 1, "", None)
    assert changes_without(changes, gone, ROOT) == changes


def test_a_folder_that_was_there_stays_changed() -> None:
    folder = change("d", state(FileKind.DIRECTORY), state(FileKind.DIRECTORY))
    changes = change_set(folder, change("d/b", None, state()))
    assert changes_without(changes, Hunk("d/b", 1, "", None), ROOT).changes == (folder,)


def test_a_file_that_goes_is_one_hunk() -> None:
    whole = candidate(("d/a", "d"))
    folder = change("d", state(FileKind.DIRECTORY), None)
    (hunk,) = parts(whole, {"d/a": OLD}, change_set(folder, change("d/a", state(), None)))
    assert leave_out(whole, hunk).deleted == ()


def test_a_change_of_one_hunk_leaves_the_file_as_it_was() -> None:
    whole = candidate(a=OLD + b"more\n")
    (hunk,) = parts(whole, {"a": OLD}, CHANGED)
    assert leave_out(whole, hunk).files == {}
    assert changes_without(CHANGED, hunk, ROOT).changes == ()


@given(
    st.lists(st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"\n"]), max_size=40),
    st.lists(st.sampled_from([b"a\n", b"b\n", b"d\n", b"end"]), max_size=40),
)
def test_leaving_out_every_hunk_in_turn_gives_back_the_original(
    old: list[bytes], new: list[bytes]
) -> None:
    before, whole = b"".join(old), candidate(a=b"".join(new))
    for _ in range(100):
        found = parts(whole, {"a": before}, CHANGED)
        if found[-1].without is None:
            break
        assert all(hunk.without != whole.files["a"] for hunk in found)
        whole = leave_out(whole, found[-1])
        assert len(parts(whole, {"a": before}, CHANGED)) < len(found)
    assert leave_out(whole, found[-1]).files == {}


def test_what_the_task_calls_redundant_is_found_by_its_text() -> None:
    declared = task(redundant=[{"path": "a", "holds": "twenty", "reason": "A comment."}])
    found = parts(candidate(a=NEW), {"a": OLD}, CHANGED)
    assert [redundant(declared, hunk) for hunk in found] == ["", "A comment."]
    assert list(undeclared(declared, found)) == []
    assert list(undeclared(declared, found[:1])) == ["no hunk of a holds 'twenty'"]
