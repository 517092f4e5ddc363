"""New commits as a pack, which git itself takes into a repository without them."""

import random
import subprocess
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.container.changes import git
from sandbox.container.changes.git_files import GitProblem
from sandbox.container.changes.git_pack import pack
from sandbox.model.change import Commit
from tests.sandbox.container.changes.host import ENVIRONMENT, HostFiles, Repository


def taken(there: Path, packed: bytearray) -> None:
    subprocess.run(
        ["git", "index-pack", "--stdin", "--strict"],
        cwd=there, env=ENVIRONMENT, input=packed, check=True, capture_output=True,
    )  # fmt: skip


def with_start(folder: Path) -> tuple[Repository, Repository]:
    """A repository with some history, and a clone that stays as it is."""
    made = Repository(folder / "made")
    for name in ("a.py", "src/b.py", "src/deep/c.py"):
        made.write(name, f"{name}\n" * 200)
    made.git("add", "-A")
    made.commit("First")
    made.git("clone", "-q", ".", "../there")
    there = Repository(folder / "there")
    there.git("repack", "-qad")
    return made, there


def new(made: Repository, there: Repository) -> tuple[Commit, ...]:
    before, after = (git.read_state(HostFiles(each.folder)) for each in (there, made))
    return git.compare(before, after, HostFiles(made.folder)).commits


PATHS = st.sampled_from(["a.py", "src/b.py", "src/deep/c.py", "src/deep/new/d.py", "é.txt", "src"])
EDITS = st.lists(st.tuples(PATHS, st.none() | st.text("ab\n", max_size=40)), max_size=3)


@settings(max_examples=15, deadline=None)
@given(commits=st.lists(EDITS, min_size=1, max_size=4), packs=st.booleans())
def test_git_has_all_of_each_commit_when_it_has_taken_the_pack(
    tmp_path_factory: pytest.TempPathFactory,
    commits: list[list[tuple[str, str | None]]],
    packs: bool,
) -> None:
    folder = tmp_path_factory.mktemp("pack")
    (folder / "made").mkdir()
    made, there = with_start(folder)
    for number, edits in enumerate(commits):
        for path, text in edits:
            made.git("rm", "-rqf", "--ignore-unmatch", "--", path)
            target = made.folder / path
            is_free = not target.is_dir() and not any(each.is_file() for each in target.parents)
            if text is not None and is_free:
                made.write(path, text)
        made.git("add", "-A")
        made.commit(f"Number {number}")
    if packs:
        made.git("gc", "-q")
    found = new(made, there)
    assert len(found) == len(commits)
    taken(there.folder, pack(HostFiles(made.folder), found))
    for commit in found:
        there.git("rev-list", "--objects", commit.id)
        assert there.git("ls-tree", "-r", commit.id) == made.git("ls-tree", "-r", commit.id)


def test_merges_root_commits_and_other_repositories_are_packed(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    made, there = with_start(tmp_path)
    made.git("checkout", "-q", "--orphan", "other")
    made.write("own.txt", "own\n" * 5000)
    made.git("add", "-A")
    made.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module")
    made.commit("A root of its own")
    made.git("checkout", "-qf", "main")
    made.git("merge", "-q", "--allow-unrelated-histories", "-m", "Together", "other")
    taken(there.folder, pack(HostFiles(made.folder), new(made, there)))
    there.git("update-ref", "refs/heads/main", made.git("rev-parse", "main"))
    there.git("fsck", "--connectivity-only")


def test_a_commit_of_which_something_is_gone_cannot_be_packed(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    made, there = with_start(tmp_path)
    made.write("a.py", "changed\n")
    made.git("add", "-A")
    made.commit("Second")
    found = new(made, there)
    blob = made.git("rev-parse", "HEAD:a.py")
    (made.folder / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(GitProblem, match="is missing"):
        pack(HostFiles(made.folder), found)


def test_a_large_pack_is_held_once(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    made, there = with_start(tmp_path)
    for number in range(4):
        (made.folder / f"{number}.bin").write_bytes(random.Random(number).randbytes(8 << 20))
    made.git("add", "-A")
    made.commit("Much")
    commits = new(made, there)
    files = HostFiles(made.folder)
    tracemalloc.start()
    try:
        packed = pack(files, commits)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(packed) > 32 << 20
    # What one object of it needs comes on top: its bytes as they are, and twice compressed.
    assert peak < 1.2 * len(packed) + 4 * (8 << 20)
