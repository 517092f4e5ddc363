"""Releases of a git repository hold all that a checkout holds, but for symbolic links."""

import os
import subprocess
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sandbox.model.errors import UsageError
from sandbox.tasks.authoring import bounded_git, git_history
from sandbox.tasks.authoring.origin import Origin
from sandbox.tasks.repos import archive

PERSON = ("-c", "user.name=An Author", "-c", "user.email=author@example.org")


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ("git", *PERSON, *words), cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    folder = tmp_path / "till"
    (folder / "tests").mkdir(parents=True)
    (folder / "till.py").write_text("VERSION = '$Format:%H$'\n")
    (folder / "tests/test_till.py").write_text("def test_it(): ...\n")
    (folder / ".gitattributes").write_text("tests export-ignore\ntill.py export-subst\n")
    (folder / "link.py").symlink_to("till.py")
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "first")
    return folder


def files(upstream: Path, tmp_path: Path) -> tuple[dict[str, bytes], tuple[str, ...]]:
    work = tmp_path / "work"
    work.mkdir()
    project = git_history.found(Origin("git", str(upstream), None), "till", 1, work)
    held = archive.read(project.releases[-1].path)
    return {file.path: file.data for file in held}, tuple(project.notes)


def test_what_a_release_would_leave_out_is_there(upstream: Path, tmp_path: Path) -> None:
    found, _ = files(upstream, tmp_path)
    assert found["till.py"] == b"VERSION = '$Format:%H$'\n"
    assert "tests/test_till.py" in found


def test_symbolic_links_are_left_out_and_told(upstream: Path, tmp_path: Path) -> None:
    found, notes = files(upstream, tmp_path)
    assert "link.py" not in found
    assert notes == ("Symbolic links were left out, a release holds none: link.py.",)


def test_the_same_commit_gives_the_same_bytes(upstream: Path, tmp_path: Path) -> None:
    made = []
    for name in ("one", "two"):
        work = tmp_path / name
        work.mkdir()
        project = git_history.found(Origin("git", str(upstream), None), "till", 1, work)
        made.append(project.releases[-1].path.read_bytes())
        with tarfile.open(project.releases[-1].path) as packed:
            assert packed.getnames()
    assert made[0] == made[1]


def test_a_bare_repository_serves_as_well(upstream: Path, tmp_path: Path) -> None:
    bare = tmp_path / "till.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(upstream), str(bare))
    found, _ = files(bare, tmp_path)
    assert "till.py" in found


def test_a_clone_that_never_ends_is_given_up(
    upstream: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_git, "SECONDS", 1)
    os.mkfifo(upstream / ".git/packed-refs")
    with pytest.raises(UsageError, match="did not end within 1 s"):
        files(upstream, tmp_path)


def test_a_shallow_clone_is_told_as_one(upstream: Path, tmp_path: Path) -> None:
    (upstream / "more.py").write_text("")
    git(upstream, "add", "--all")
    git(upstream, "commit", "--quiet", "-m", "second")
    first = git(upstream, "rev-parse", "HEAD~1")
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{upstream}", str(shallow))
    work = tmp_path / "work"
    work.mkdir()
    with pytest.raises(UsageError) as raised:
        git_history.found(Origin("git", str(shallow), first), "till", 1, work)
    assert "shallow clone" in raised.value.message
    assert "--unshallow" in raised.value.next_step


def test_a_date_that_cannot_be_is_taken_for_the_latest(upstream: Path, tmp_path: Path) -> None:
    tree = git(upstream, "rev-parse", "HEAD^{tree}")
    text = f"tree {tree}\nauthor A <a@b> 9 +9999\ncommitter A <a@b> 9999999999 +9999\n\nodd\n"
    made = subprocess.run(
        ("git", "hash-object", "-t", "commit", "-w", "--literally", "--stdin"),
        input=text,
        cwd=upstream,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    git(upstream, "update-ref", "refs/heads/odd", made)
    work = tmp_path / "work"
    work.mkdir()
    project = git_history.found(Origin("git", str(upstream), made), "till", 1, work)
    assert project.releases[-1].date == datetime(2100, 1, 1, tzinfo=UTC)
