"""Nothing later and nothing fixed can be reached, and each way to plant it is found."""

import shutil
import subprocess
from pathlib import Path

import pytest
from dulwich.repo import Repo

from sandbox.model import documents, places
from sandbox.model.repository import Repository
from sandbox.model.world import Defect, World
from sandbox.tasks import repos
from sandbox.tasks.sources import Sources
from tests.sandbox.tasks.repos.gadget import WORLD, build, git, hidden


def test_no_later_or_fixed_content_is_stored(
    repository: Repository, task: Path, tmp_path: Path
) -> None:
    world = WORLD.model_copy(
        update={"defects": (*WORLD.defects, Defect(patch="later.patch", since="2.0"))}
    )
    folder = build(repository, world, task, tmp_path / "new").folder
    secrets = hidden(repository, world, task)
    assert set(secrets.values()) == {
        "src/formula.py of release 1.1",
        "src/formula.py of release 2.0",
        "only-in-2.0 of release 2.0",
    }
    assert repos.leaks(folder, secrets) == []
    assert not stored_by_another_reader(folder) & secrets.keys()


def stored_by_another_reader(folder: Path) -> set[str]:
    """All object names, read from packs and loose files without git."""
    with Repo(str(folder)) as repository:
        return {name.decode() for name in repository.object_store}


def plant_loose(folder: Path) -> None:
    (folder / "leak").write_text("# formula\nreturn 2\n")
    git(folder, "hash-object", "-w", "leak")


def plant_packed(folder: Path) -> None:
    plant_loose(folder)
    blob = repos.blob_id(b"# formula\nreturn 2\n")
    subprocess.run(
        ["git", "pack-objects", ".git/objects/pack/pack"],
        input=blob.encode(),
        cwd=folder,
        check=True,
        capture_output=True,
    )
    git(folder, "prune-packed")


def plant_commit(folder: Path) -> None:
    commit = git(
        folder, "-c", "user.name=a", "-c", "user.email=a", "commit-tree", "-m", "x", "HEAD^{tree}"
    )
    assert commit


def plant_ref(folder: Path) -> None:
    git(folder, "update-ref", "refs/stash", "HEAD")


def plant_alternate(folder: Path) -> None:
    (folder / ".git/objects/info").mkdir()
    (folder / ".git/objects/info/alternates").write_text("/somewhere\n")


def plant_pack_without_index(folder: Path) -> None:
    plant_packed(folder)
    for path in (folder / ".git/objects/pack").glob("*.idx"):
        count = subprocess.run(
            ["git", "show-index"], input=path.read_bytes(), check=True, capture_output=True
        )
        if len(count.stdout.splitlines()) == 1:
            path.unlink()


def plant_file(name: str, folder: Path) -> None:
    path = folder / ".git" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")


@pytest.mark.parametrize(
    ("plant", "found"),
    [
        (plant_loose, "is src/formula.py of release 2.0"),
        (plant_packed, "is src/formula.py of release 2.0"),
        (plant_commit, "is shown by nothing"),
        (plant_ref, "refs/stash is neither the branch nor a tag"),
        (plant_alternate, "objects/info/alternates does not belong here"),
        (plant_pack_without_index, "has no index"),
        *(
            (
                lambda folder, name=name: plant_file(name, folder),
                f".git/{name} does not belong here",
            )
            for name in (
                "logs/HEAD",
                "ORIG_HEAD",
                "FETCH_HEAD",
                "shallow",
                "worktrees/a/HEAD",
                "objects/pack/tmp_pack_x",
                "modules/a/config",
                "lost-found/other/x",
            )
        ),
    ],
)
def test_planted_leaks_are_found(
    repository: Repository, task: Path, tmp_path: Path, plant: object, found: str
) -> None:
    folder = build(repository, World(release="1.1"), task, tmp_path / "new").folder
    secrets = hidden(repository, World(release="1.1"), task)
    assert repos.leaks(folder, secrets) == []
    assert callable(plant)
    plant(folder)
    assert any(found in line for line in repos.leaks(folder, secrets))


@pytest.mark.parametrize("release", ["4.9.0", "4.11.0"])
def test_humanize_holds_nothing_of_later_releases(tmp_path: Path, release: str) -> None:
    path = places.project() / "task_repos" / "humanize" / "repo.yaml"
    repository = documents.load(path, Repository)
    sources, world = Sources(places.cache()), World(release=release)
    built = repos.build(repository, world, path.parent, sources, tmp_path / "new", print)
    secrets = repos.hidden_blobs(repository, world, path.parent, sources, print)
    assert "src/humanize/filesize.py of release 4.12.3" in secrets.values()
    assert repos.leaks(built.folder, secrets) == []
    assert not stored_by_another_reader(built.folder) & secrets.keys()
    assert list(built.tags)[-1] == release
    assert (built.folder / "tests/test_filesize.py").is_file()
    shutil.rmtree(built.folder)
