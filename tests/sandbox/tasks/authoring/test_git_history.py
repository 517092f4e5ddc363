"""Releases of a git repository hold all that a checkout holds, but for symbolic links."""

import subprocess
import tarfile
from pathlib import Path

import pytest

from sandbox.tasks.authoring import git_history
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
