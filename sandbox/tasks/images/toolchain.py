"""The images that tasks share: the toolchain, and a repository's environment on top of it."""

import os
import subprocess
from pathlib import Path

from sandbox.container.engines.base import ImageInfo
from sandbox.model import documents, places
from sandbox.model.image import Toolchain
from sandbox.model.repository import Repository
from sandbox.tasks.images import base
from sandbox.tasks.images.pins import files_of, needed
from sandbox.tasks.images.recipe import Recipe, Work, copy, digest, dockerfile, folder_digest
from sandbox.tasks.library import DOCKERFILES
from sandbox.tasks.sources import Sources

TOOLCHAIN, ENVIRONMENT, TASK = DOCKERFILES
ARTIFACTS = "toolchain.yaml"
_PROXIES = ("http_proxy", "https_proxy", "no_proxy")


def folder(name: str) -> Path:
    """Where an image's files lie."""
    return places.project() / "images" / name


def toolchain(name: str, sources: Sources) -> Recipe:
    """Return how the toolchain `images/<name>/` is made; its build may use the network."""
    below = base.recipe()
    source = folder(name)
    files = [path for path in source.rglob("*") if path.is_file()]
    inputs = folder_digest(source, [f for f in files if f.name not in (ENVIRONMENT, TASK)])

    def make(recipe: Recipe, work: Work) -> ImageInfo:
        dockerfile(source / TOOLCHAIN, work)
        for laid in (path for path in source.iterdir() if path.is_dir()):
            copy(laid.iterdir(), work.folder / laid.name)
        if (source / ARTIFACTS).is_file():
            wanted = documents.load(source / ARTIFACTS, Toolchain).artifacts
            fetched = sources.fetch_all(wanted, work.on_line)
            copy(fetched.values(), work.folder / "artifacts")
        return work.build(recipe, "host", proxies())

    return Recipe(name, digest(below, inputs), below, make)


def environment(name: str, repository: Repository, sources: Sources) -> Recipe:
    """Return how a repository's environment is made: its requirements, installed."""
    below = toolchain(name, sources)
    source = folder(name) / ENVIRONMENT

    def make(recipe: Recipe, work: Work) -> ImageInfo:
        dockerfile(source, work)
        files = sources.fetch_all(needed(repository), work.on_line)
        copy(files.values(), work.folder / "mirror")
        for path, content in files_of(repository).items():
            (work.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (work.folder / path).write_text(content)
        return work.build(recipe)

    inputs = (
        source.read_text(),
        repository.name,
        *repository.paths,
        *(artifact.model_dump_json() for artifact in repository.requirements),
    )
    whole = digest(below, *inputs)
    return Recipe(f"{name}-{repository.name}", whole, below, make)


def proxies() -> dict[str, str]:
    """Return the host's proxies. The engine hands them to the build and leaves none behind."""
    found = {
        name: value
        for name in _PROXIES
        if (value := os.environ.get(name) or os.environ.get(name.upper()))
    }
    if "http_proxy" not in found and (proxy := _apt_proxy()):
        found["http_proxy"] = proxy
    return found


def _apt_proxy() -> str:
    try:
        said = subprocess.run(
            ["apt-config", "shell", "proxy", "Acquire::http::Proxy"],
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        return ""
    return said.stdout.strip().removeprefix("proxy=").strip("'")
