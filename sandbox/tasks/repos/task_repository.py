"""A task's repository from its data files."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox.model.errors import RepositoryError
from sandbox.model.glob import Globs
from sandbox.model.renaming import Renaming
from sandbox.model.repository import Release, Repository
from sandbox.model.world import Defect, World
from sandbox.tasks.repos import archive as archives
from sandbox.tasks.repos import history
from sandbox.tasks.repos.git_commands import CommandError, Git
from sandbox.tasks.repos.leaks import blob_id, leaks
from sandbox.tasks.repos.repository_builder import BuiltRepository, RepositoryBuilder
from sandbox.tasks.sources import Sources

OnLine = Callable[[str], None]


def build(
    repository: Repository,
    world: World,
    task: Path,
    sources: Sources,
    target: Path,
    on_line: OnLine,
) -> BuiltRepository:
    """Build a task's repository and worktree in the new folder `target`.

    `task` is the folder that the world's file names start from. Releases later than the world's
    are not looked at. SourceError, RepositoryError; where it fails, `target` is removed.
    """
    releases = _shown(repository, world)
    files = sources.fetch_all((release.source for release in releases), on_line)
    *before, last = releases
    patches = {
        each.version: [task / defect.patch for defect in _active(repository, world, each)]
        for each in releases
    }
    with _translated(target):
        builder = history.builder_of(repository, target)
        # From here on the folder is ours to remove.
        try:
            history.lay(builder, repository, before, files, sources.histories)
            builder.weave((each.version, each.date, patches[each.version]) for each in before)
            builder.release(files[last.source], last.version, last.date, patches[last.version])
            for overlay in world.overlays:
                builder.overlay(task / overlay.folder, overlay.message, overlay.date)
            _lay_out_work_in_progress(builder, world, task)
            built = builder.finish()
            _verify(target)
        except BaseException:
            shutil.rmtree(target, ignore_errors=True)
            raise
    return built


def hidden_blobs(
    repository: Repository, world: World, task: Path, sources: Sources, on_line: OnLine
) -> dict[str, str]:
    """Return what a task must not show, as object ids for `leaks`, each with its name.

    That is every file of every release, later ones included, but for what the shown releases
    hold: there, a file that a defect changes is hidden as upstream wrote it. A file that the user
    is at work on is not: what their work has made of it may be what upstream wrote.
    """
    files = sources.fetch_all((release.source for release in repository.releases), on_line)
    shown_releases = _shown(repository, world)
    work = {path for patch in _work(world) for path in _patched_paths(task / patch)}
    shown, hidden = set[str](), dict[str, str]()
    for release in repository.releases:
        patched = {
            path
            for defect in _active(repository, world, release)
            for path in _patched_paths(task / defect.patch)
        }
        for path, name in _blobs(repository, files[release.source]):
            if release in shown_releases and path not in patched:
                shown.add(name)
            elif path not in work:
                hidden.setdefault(name, f"{path} of release {release.version}")
    return {name: text for name, text in hidden.items() if name not in shown}


@contextmanager
def _translated(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RepositoryError(
            f"The repository cannot be written to {target}: {error}; nothing was kept.",
            "Check the folder's permissions and the free space, then repeat.",
        ) from error


def _verify(target: Path) -> None:
    if found := leaks(target, {}):
        raise RepositoryError(
            "The repository holds what it should not: " + "; ".join(found[:5]),
            "This is a mistake of the sandbox or of the git in use; please report it.",
        )


def _shown(repository: Repository, world: World) -> tuple[Release, ...]:
    return repository.releases[: _position(repository, world.release) + 1]


def _active(repository: Repository, world: World, release: Release) -> list[Defect]:
    position = repository.releases.index(release)
    return [
        defect
        for defect in world.defects
        if _position(repository, defect.since) <= position
        and (defect.until is None or position <= _position(repository, defect.until))
    ]


def _work(world: World) -> list[str]:
    """Give the patches that the user's uncommitted work consists of."""
    worktree = world.worktree
    return [patch for patch in (worktree.stash, worktree.staged, worktree.unstaged) if patch]


def _position(repository: Repository, version: str) -> int:
    versions = [release.version for release in repository.releases]
    if version not in versions:
        raise RepositoryError(
            f"{repository.name} has no release {version}; there are {', '.join(versions)}.",
            "Correct the version in the task file, or pin the release in repo.yaml.",
        )
    return versions.index(version)


def _lay_out_work_in_progress(builder: RepositoryBuilder, world: World, task: Path) -> None:
    if world.hooks:
        builder.hooks(task / world.hooks)
    if world.worktree.stash:
        builder.stash(task / world.worktree.stash)
    if world.worktree.staged:
        builder.stage(task / world.worktree.staged)
    if world.worktree.unstaged:
        builder.edit(task / world.worktree.unstaged)
    if world.worktree.untracked:
        builder.untracked(task / world.worktree.untracked)


def _blobs(repository: Repository, archive: Path) -> Iterator[tuple[str, str]]:
    """Yield path and object id of each file of a release that would be committed."""
    left_out = Globs((*repository.strip, *repository.generated))
    for file in archives.read(archive, Renaming(repository.words)):
        if not left_out.match(file.path):
            yield file.path, blob_id(file.data)


def _patched_paths(patch: Path) -> list[str]:
    try:
        listed = Git(patch.parent).run("apply", "--numstat", "-z", str(patch.absolute()))
    except CommandError as error:
        raise RepositoryError(f"{patch} is not a patch: {error}", "Correct the file.") from error
    return [entry.split("\t")[2] for entry in listed.split("\0") if entry.count("\t") == 2]
