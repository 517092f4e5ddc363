"""A task's image: the worktree with its repository and hooks, and the offline package mirror.

Nothing else of the task's folder gets into the build context: no hidden test, no defect's patch,
no task file.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

from sandbox.container.engines.base import ImageInfo
from sandbox.model.container import Container
from sandbox.model.world import World
from sandbox.tasks import repos
from sandbox.tasks.images import foreign, toolchain
from sandbox.tasks.images.recipe import Recipe, Work, copy, digest, dockerfile, folder_digest
from sandbox.tasks.library import LoadedTask, files_below
from sandbox.tasks.sources import Sources


def recipe(loaded: LoadedTask, sources: Sources) -> Recipe:
    """Return how a task's image is made; reads the files that go into it, and no others."""
    task, folder, repository = loaded.task, loaded.folder, loaded.repository
    container = task.world.container
    if container is None:
        below = toolchain.environment(task.image, repository, sources)
    else:
        below = foreign.environment(container, folder, repository, sources)
    source = toolchain.folder(task.image) / toolchain.TASK

    def make(recipe: Recipe, work: Work) -> ImageInfo:
        dockerfile(source, work)
        mirror = sources.fetch_all(task.world.mirror, work.on_line)
        copy(mirror.values(), work.folder / "mirror")
        worktree = work.folder / "home" / repository.name
        worktree.parent.mkdir()
        work.on_line(f"building the repository {repository.name} {task.world.release}")
        repos.build(repository, task.world, folder, sources, worktree, work.on_line)
        _lay_servers(task.world, folder, work.folder / "servers")
        return work.build(recipe, arguments=_link(container, loaded.worktree))

    whole = digest(
        below,
        *(path.read_text() for path in sorted(Path(repos.__file__).parent.glob("*.py"))),
        source.read_text(),
        repository.model_dump_json(),
        task.world.model_dump_json(exclude={"registry", "layer"}),
        folder_digest(folder, world_files(task.world, folder)),
    )
    return Recipe(loaded.base.replace("/", "-"), whole, below, make)


def _link(container: Container | None, worktree: str) -> dict[str, str]:
    """Say which folder of a foreign image leads to the checkout."""
    return {} if container is None else {"WORKDIR": container.workdir, "CHECKOUT": worktree}


def _lay_servers(world: World, folder: Path, target: Path) -> None:
    """Copy the servers' folders; the Dockerfile closes them."""
    target.mkdir()
    for server in world.servers:
        if server.folder is not None:
            for file in files_below(folder / server.folder):
                place = target / server.name / file.relative_to(folder / server.folder)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, place)


def world_files(world: World, folder: Path) -> Iterator[Path]:
    """Yield the files of a task's folder that its world is made of."""
    worktree = world.worktree
    yield from (folder / defect.patch for defect in world.defects)
    patches = (worktree.stash, worktree.staged, worktree.unstaged)
    yield from (folder / patch for patch in patches if patch)
    laid = (*(overlay.folder for overlay in world.overlays), world.hooks, worktree.untracked)
    folders = (server.folder for server in world.servers)
    for name in (*laid, *folders):
        if name:
            yield from files_below(folder / name)
