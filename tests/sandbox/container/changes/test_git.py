import hashlib
import os
import shutil
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.container.changes import git
from sandbox.container.changes.git_files import GitProblem
from sandbox.container.changes.git_objects import DEPTH_LIMIT, Objects
from tests.sandbox.container.changes.host import HostFiles, Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path)
    for number in range(5):
        repository.write("src/a.py", "".join(f"line {i} {number}\n" for i in range(200)))
        repository.write(f"src/file{number}.py", f"{number}\n")
        repository.git("add", "-A")
        repository.commit(f"Release {number}")
    repository.git("tag", "-a", "v1", "-m", "one", "HEAD~1")
    return repository


def test_a_state_is_what_git_says(repository: Repository) -> None:
    repository.write("new file\twith tab.py", "x\n")
    repository.write("later.py", "x\n")
    repository.git("add", "new file\twith tab.py")
    repository.git("add", "-N", "later.py")
    repository.git("update-index", "--skip-worktree", "src/a.py")
    repository.git("update-index", "--assume-unchanged", "src/file1.py")
    state = git.read_state(HostFiles(repository.folder))
    assert state.head == "refs/heads/main"
    assert state.refs == {
        "refs/heads/main": repository.git("rev-parse", "HEAD"),
        "refs/tags/v1": repository.git("rev-parse", "v1"),
    }
    listed = repository.git("ls-files", "--stage", "-z").rstrip("\0").split("\0")
    assert [f"{e.mode:06o} {e.object} {e.stage}\t{e.path}" for e in state.index] == listed
    flags = {entry.path: entry for entry in state.index}
    assert flags["src/a.py"].skip_worktree
    assert flags["src/file1.py"].assume_unchanged
    assert flags["later.py"].intent_to_add
    assert sum(e.skip_worktree + e.assume_unchanged + e.intent_to_add for e in state.index) == 3
    assert "config" in state.files
    assert "info/exclude" in state.files


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_every_version_of_the_index_is_read(repository: Repository, version: str) -> None:
    repository.git("update-index", "--index-version", version)
    state = git.read_state(HostFiles(repository.folder))
    assert [entry.path for entry in state.index] == repository.git("ls-files").split("\n")


def test_stashes_are_listed_newest_first(repository: Repository) -> None:
    for text in ("one\n", "two\n"):
        repository.write("src/a.py", text)
        repository.git("stash", "-q")
    state = git.read_state(HostFiles(repository.folder))
    assert list(state.stash) == repository.git("stash", "list", "--format=%H").split("\n")


@pytest.mark.parametrize("packed", [False, True])
def test_new_commits_come_oldest_first_with_their_paths(
    repository: Repository, packed: bool
) -> None:
    if packed:
        repository.git("gc", "-q", "--aggressive", "--prune=now")
    files = HostFiles(repository.folder)
    before = git.read_state(files)
    repository.git("checkout", "-q", "-b", "side", "HEAD~2")
    repository.write("side.py", "side\n")
    repository.git("add", "-A")
    first = repository.commit("Side\n\nWhy.")
    repository.git("checkout", "-q", "main")
    repository.git("rm", "-q", "-r", "src/file1.py")
    second = repository.commit("Remove")
    repository.git("merge", "-q", "--no-ff", "-m", "Merge", "side")
    if packed:
        repository.git("gc", "-q", "--prune=now")
    change = git.compare(before, git.read_state(files), files)
    merge = repository.git("rev-parse", "HEAD")
    assert {commit.id for commit in change.commits} == {first, second, merge}
    assert change.commits[-1].id == merge
    assert change.commits[-1].parents == (second, first)
    by_id = {commit.id: commit for commit in change.commits}
    assert by_id[first].paths == ("side.py",)
    assert by_id[first].message == "Side\n\nWhy.\n"
    assert by_id[first].author.startswith("Anna <anna@example.org> ")
    assert by_id[second].paths == ("src/file1.py",)
    assert by_id[merge].paths == ("side.py",)


def test_packed_objects_and_deltas_are_what_git_says(repository: Repository) -> None:
    repository.git("gc", "-q", "--aggressive", "--prune=now")
    objects = Objects(HostFiles(repository.folder))
    listed = repository.git("cat-file", "--batch-check", "--batch-all-objects").split("\n")
    for line in listed:
        identity, kind, size = line.split(" ")
        found, content = objects.get(identity)
        assert (found.decode(), len(content)) == (kind, int(size))


def test_an_amended_commit_is_new_and_the_old_one_is_not_below_it(repository: Repository) -> None:
    files = HostFiles(repository.folder)
    before = git.read_state(files)
    repository.git("commit", "-q", "--amend", "-m", "Other")
    change = git.compare(before, git.read_state(files), files)
    assert [commit.message for commit in change.commits] == ["Other\n"]
    assert before.refs["refs/heads/main"] not in change.commits[0].parents


def _symlinked(folder: Path) -> None:
    (folder / ".git").rename(folder / "elsewhere")
    (folder / ".git").symlink_to("elsewhere")


def _file(folder: Path) -> None:
    shutil.rmtree(folder / ".git")
    (folder / ".git").write_text("gitdir: /elsewhere\n")


def _damaged_index(folder: Path) -> None:
    index = folder / ".git/index"
    index.write_bytes(index.read_bytes()[:-30])


def _split_index(folder: Path) -> None:
    Repository(folder).git("update-index", "--split-index")


def _junk_ref(folder: Path) -> None:
    (folder / ".git/refs/heads/evil").write_text("\x1b[2J\n")


def _linked_refs(folder: Path) -> None:
    (folder / ".git/refs/heads/evil").symlink_to("/etc/passwd")


@pytest.mark.parametrize(
    "damage", [_symlinked, _file, _damaged_index, _split_index, _junk_ref, _linked_refs]
)
def test_what_is_no_plain_repository_is_a_problem(
    repository: Repository, damage: Callable[[Path], None]
) -> None:
    damage(repository.folder)
    with pytest.raises(GitProblem):
        git.read_state(HostFiles(repository.folder))


def _object(repository: Repository, identity: str) -> Path:
    return repository.folder / ".git/objects" / identity[:2] / identity[2:]


def _bomb(path: Path) -> None:
    path.write_bytes(zlib.compress(b"commit 99\0" + bytes(64 << 20)))


def _garbage(path: Path) -> None:
    path.write_bytes(b"garbage")


def _other(path: Path) -> None:
    path.write_bytes(zlib.compress(b"commit 5\0hello"))


@pytest.mark.parametrize("damage", [_bomb, _garbage, _other, os.unlink])
def test_hostile_objects_are_a_problem(
    repository: Repository, damage: Callable[[Path], None]
) -> None:
    files = HostFiles(repository.folder)
    before = git.read_state(files)
    path = _object(repository, repository.commit("New"))
    path.chmod(0o644)
    damage(path)
    with pytest.raises(GitProblem):
        git.compare(before, git.read_state(files), files)


def test_a_commit_kept_in_an_alternate_is_missing(repository: Repository, tmp_path: Path) -> None:
    files = HostFiles(repository.folder)
    before = git.read_state(files)
    path = _object(repository, repository.commit("New"))
    elsewhere = tmp_path / "elsewhere" / path.parent.name
    elsewhere.mkdir(parents=True)
    path.rename(elsewhere / path.name)
    (repository.folder / ".git/objects/info").mkdir(exist_ok=True)
    (repository.folder / ".git/objects/info/alternates").write_text(f"{elsewhere.parent}\n")
    assert repository.git("log", "-1", "--format=%s") == "New"
    after = git.read_state(files)
    assert set(after.files) - set(before.files) == {"objects/info/alternates"}
    with pytest.raises(GitProblem, match="missing"):
        git.compare(before, after, files)


@pytest.mark.parametrize("entry", [b"100644 ../escape", b"1\xff0644 a", b"100648 a", b" a"])
def test_a_tree_that_git_would_not_make_is_a_problem(repository: Repository, entry: bytes) -> None:
    files = HostFiles(repository.folder)
    before = git.read_state(files)
    blob = repository.git("rev-parse", "HEAD:src/a.py")
    content = entry + b"\0" + bytes.fromhex(blob)
    (repository.folder / "raw").write_bytes(content)
    tree = repository.git("hash-object", "-t", "tree", "--literally", "-w", "raw")
    commit = repository.git("commit-tree", tree, "-p", "HEAD", "-m", "evil")
    repository.git("update-ref", "refs/heads/main", commit)
    with pytest.raises(GitProblem, match="would not make"):
        git.compare(before, git.read_state(files), files)


def _stored(repository: Repository, kind: str, content: bytes) -> str:
    (repository.folder / "raw").write_bytes(content)
    return repository.git("hash-object", "-t", kind, "--literally", "-w", "raw")


def test_an_object_of_a_kind_that_git_does_not_have_is_a_problem(repository: Repository) -> None:
    odd = _stored(repository, "foo", b"x")
    with pytest.raises(GitProblem, match="of no kind"):
        Objects(HostFiles(repository.folder)).get(odd)


def _chained(repository: Repository, length: int) -> str:
    """Pack a blob, and others by what each has more than the one before; the name of the last."""
    content = b"x"
    names = [hashlib.sha1(b"blob 1\0x", usedforsecurity=False).digest()]
    packed = bytearray(b"PACK" + struct.pack(">II", 2, length + 1) + b"\x31" + zlib.compress(b"x"))
    for _ in range(length):
        # From its base all bytes, then one of its own.
        sizes = b"".join(map(_size, (len(content), len(content) + 1)))
        delta = sizes + b"\xb0" + struct.pack("<H", len(content)) + b"\x01y"
        packed += bytes([0x70 | len(delta)]) + names[-1] + zlib.compress(delta)
        content += b"y"
        whole = b"blob %d\0" % len(content) + content
        names.append(hashlib.sha1(whole, usedforsecurity=False).digest())
    packed += hashlib.sha1(packed, usedforsecurity=False).digest()
    path = repository.folder / "chain.pack"
    path.write_bytes(packed)
    repository.git("index-pack", "-o", ".git/objects/pack/pack-chain.idx", "chain.pack")
    path.rename(repository.folder / ".git/objects/pack/pack-chain.pack")
    return names[-1].hex()


def _size(value: int) -> bytes:
    return bytes([value & 0x7F | 0x80, value >> 7]) if value > 0x7F else bytes([value])


def test_a_long_chain_of_deltas_that_name_their_base_is_read(repository: Repository) -> None:
    last = _chained(repository, 1500)
    kind, content = Objects(HostFiles(repository.folder)).get(last)
    assert (kind, content) == (b"blob", b"x" + b"y" * 1500)
    assert content.decode() == repository.git("cat-file", "blob", last)


def test_a_chain_without_end_is_a_problem(repository: Repository) -> None:
    last = _chained(repository, DEPTH_LIMIT + 5)
    with pytest.raises(GitProblem, match="without end"):
        Objects(HostFiles(repository.folder)).get(last)


def test_folders_that_double_with_each_level_are_a_problem(repository: Repository) -> None:
    files = HostFiles(repository.folder)
    before = git.read_state(files)
    tree = _stored(repository, "tree", b"")
    for _ in range(40):
        raw = bytes.fromhex(tree)
        tree = _stored(repository, "tree", b"40000 a\0" + raw + b"40000 b\0" + raw)
    commit = repository.git("commit-tree", tree, "-p", "HEAD", "-m", "bomb")
    repository.git("update-ref", "refs/heads/main", commit)
    with pytest.raises(GitProblem, match="nested without end"):
        git.compare(before, git.read_state(files), files)
