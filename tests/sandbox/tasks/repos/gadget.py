"""A project of three releases and a task on it, small enough to see through."""

import hashlib
import io
import os
import subprocess
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from sandbox.model.artifact import Artifact, ArtifactKind
from sandbox.model.repository import Person, Release, Repository
from sandbox.model.world import Defect, Overlay, Worktree, World
from sandbox.tasks import repos
from sandbox.tasks.sources import Sources

AUTHOR = Person(name="Ann Author", email="ann@example.org")
VERSIONS = ("1.0", "1.1", "2.0")
FORMULA = {"1.0": "return 1\n", "1.1": "return 11\n", "2.0": "return 2\n"}
DEFECT = """\
--- a/src/formula.py
+++ b/src/formula.py
@@ -1,2 +1,2 @@
 # formula
-return 11
+return 99
"""
DEFECT_LATER = DEFECT.replace("return 11", "return 2").replace("99", "999")
STAGED = "--- a/README\n+++ b/README\n@@ -1 +1,2 @@\n gadget\n+staged\n"
UNSTAGED = "--- a/README\n+++ b/README\n@@ -1,2 +1,3 @@\n gadget\n staged\n+edited\n"


def pack_archive(path: Path, files: Mapping[str, str | tarfile.TarInfo]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            if isinstance(content, tarfile.TarInfo):
                tar.addfile(content)
                continue
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o775 if name.endswith(".sh") else 0o600
            tar.addfile(member, io.BytesIO(content.encode()))
    return path


def make_repository(tmp_path: Path) -> Repository:
    """A project of three releases, whose sources are in the cache already."""
    releases = []
    for year, version in enumerate(VERSIONS, 2001):
        top = f"gadget-{version}"
        files = {
            f"{top}/README": "gadget\n",
            f"{top}/PKG-INFO": f"Version: {version}\n",
            f"{top}/src/formula.py": f"# formula\n{FORMULA[version]}",
            f"{top}/src/_version.py": f"version = '{version}'\n",
            f"{top}/.gitignore": "*.log\nsrc/_version.py\n",
            f"{top}/kept.log": "ignored and yet tracked\n",
            f"{top}/run.sh": "#!/bin/sh\n",
            f"{top}/crlf.txt": "a\r\nb\r\n",
            f"{top}/only-in-{version}": f"{version}\n",
        }
        path = pack_archive(tmp_path / f"{top}.tar.gz", files)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        source = Artifact(
            kind=ArtifactKind.SDIST,
            name="gadget",
            version=version,
            filename=path.name,
            sha256=digest,
        )
        target = Sources(tmp_path / "cache").path(source)
        target.parent.mkdir(parents=True)
        path.rename(target)
        date = f"{year}-02-03T04:05:06+02:00"
        releases.append(Release(version=version, date=date, source=source))
    return Repository(
        name="gadget",
        summary="Gadgets.",
        license="MIT",
        home="https://example.org",
        author=AUTHOR,
        releases=tuple(releases),
        strip=("PKG-INFO",),
        generated=("src/_version.py",),
    )


def make_task(tmp_path: Path) -> Path:
    folder = tmp_path / "task"
    for name, text in {
        "defect.patch": DEFECT,
        "later.patch": DEFECT_LATER,
        "staged.patch": STAGED,
        "unstaged.patch": UNSTAGED,
        "instructions/AGENTS.md": "Be careful.\n",
        "instructions/src/AGENTS.md": "Be more careful.\n",
        "hooks/pre-commit": "#!/bin/sh\nexit 0\n",
        "untracked/notes/my.log": "mine\n",
        "untracked/todo.txt": "mine\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


WORLD = World(
    release="1.1",
    defects=(Defect(patch="defect.patch", since="1.1"),),
    overlays=(
        Overlay(folder="instructions", message="Add instructions", date="2002-03-04T05:06:07Z"),
    ),
    hooks="hooks",
    worktree=Worktree(staged="staged.patch", unstaged="unstaged.patch", untracked="untracked"),
)


def build(repository: Repository, world: World, task: Path, target: Path) -> repos.BuiltRepository:
    cache = Sources(task.parent / "cache")
    return repos.build(repository, world, task, cache, target, pytest.fail)


def hidden(repository: Repository, world: World, task: Path) -> dict[str, str]:
    return repos.hidden_blobs(repository, world, task, Sources(task.parent / "cache"), pytest.fail)


def git(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(
        ["git", "-c", "core.quotePath=off", *arguments],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
