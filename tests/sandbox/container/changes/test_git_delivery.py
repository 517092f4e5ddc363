"""What a run delivers and loses, in repositories that git itself works on."""

from pathlib import Path

import pytest

from sandbox.container.changes import git
from sandbox.container.changes.git_delivery import delivered, lost
from tests.sandbox.container.changes.host import HostFiles, Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """One commit, a stash with an untracked file, and something staged."""
    made = Repository(tmp_path)
    made.write("src/a.py", "one\n")
    made.write("README.md", "Read me\n")
    made.git("add", "-A")
    made.commit("First")
    made.write("src/a.py", "two\n")
    made.git("stash", "-q")
    made.write("README.md", "Staged\n")
    made.git("add", "README.md")
    return made


def loose(repository: Repository, name: str) -> Path:
    identity = repository.git("rev-parse", name)
    return repository.folder / ".git/objects" / identity[:2] / identity[2:]


def test_nothing_is_lost_by_packing_everything_anew(repository: Repository) -> None:
    files = HostFiles(repository.folder)
    before = git.read_state(files)
    repository.git("gc", "-q", "--prune=now")
    assert lost(files, before) == ()


@pytest.mark.parametrize(
    "name", ["stash", "stash:src/a.py", "stash^2", ":README.md", "HEAD^{tree}"]
)
def test_an_object_that_is_gone_is_lost_however_it_was_reached(
    repository: Repository, name: str
) -> None:
    files = HostFiles(repository.folder)
    before = git.read_state(files)
    identity = repository.git("rev-parse", name)
    loose(repository, name).unlink()
    assert lost(files, before) == (identity,)


def test_a_pack_without_the_stash_has_lost_it(repository: Repository) -> None:
    files = HostFiles(repository.folder)
    before = git.read_state(files)
    stash = repository.git("rev-parse", "stash")
    content = repository.git("rev-parse", "stash:src/a.py")
    (repository.folder / ".git/refs/stash").unlink()
    (repository.folder / ".git/logs/refs/stash").unlink()
    repository.git("gc", "-q", "--prune=now")
    missing = lost(files, before)
    assert stash in missing
    # What the stash alone led to is not named: nothing tells any more that it did.
    assert content not in missing


def test_another_content_under_an_objects_name_is_no_object(repository: Repository) -> None:
    files = HostFiles(repository.folder)
    before = git.read_state(files)
    target = loose(repository, ":README.md")
    target.chmod(0o644)
    target.write_bytes(loose(repository, "HEAD:README.md").read_bytes())
    assert lost(files, before) == (repository.git("rev-parse", ":README.md"),)


def test_a_log_that_grows_is_kept_and_one_that_is_cut_is_rewritten(repository: Repository) -> None:
    files = HostFiles(repository.folder)
    before = git.read_state(files)
    repository.commit("Second")
    assert git.compare(before, git.read_state(files), files).rewritten_logs == ()
    (repository.folder / ".git/logs/HEAD").write_text("")
    found = git.compare(before, git.read_state(files), files)
    assert found.rewritten_logs == ("logs/HEAD",)


def test_what_is_committed_is_compared_with_what_stands_there(repository: Repository) -> None:
    files = HostFiles(repository.folder)
    repository.write("src/new.py", "new\n")
    repository.write("src/tool.sh", "#!/bin/sh\n")
    (repository.folder / "src/tool.sh").chmod(0o755)
    repository.git("add", "src")
    tip = repository.commit("Second")
    repository.write("src/new.py", "and on\n")
    repository.write("src/left.py", "left\n")
    (repository.folder / "src/tool.sh").chmod(0o644)
    (repository.folder / "src/a.py").unlink()
    named = ["src/new.py", "src/left.py", "src/tool.sh", "src/a.py", "README.md", "src/none.py"]
    found = {each.path: each for each in delivered(files, tip, named)}
    blob = repository.git("hash-object", "src/new.py")
    assert found["src/new.py"].worktree == f"100644 {blob}"
    assert (
        found["src/new.py"].committed == f"100644 {repository.git('rev-parse', 'HEAD:src/new.py')}"
    )
    assert found["src/left.py"].committed is None
    assert found["src/a.py"].worktree is None
    tool = repository.git("rev-parse", "HEAD:src/tool.sh")
    assert (found["src/tool.sh"].committed, found["src/tool.sh"].worktree) == (
        f"100755 {tool}",
        f"100644 {tool}",
    )
    assert found["README.md"].committed == found["README.md"].worktree
    assert found["src/none.py"].committed is found["src/none.py"].worktree is None
