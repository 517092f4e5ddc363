"""A repository as it is mined: its files at the release, and a task that stands for it bare."""

import hashlib
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Self

from sandbox.model.errors import UsageError
from sandbox.model.glob import Globs
from sandbox.model.places import MINING, REPOSITORY
from sandbox.model.renaming import Renaming
from sandbox.model.repository import Release, Repository
from sandbox.model.seed import Mining
from sandbox.model.task import Task
from sandbox.tasks.drafts import seed_folder
from sandbox.tasks.drafts.seed_folder import SeedFolder
from sandbox.tasks.library import LoadedTask
from sandbox.tasks.repos import archive
from sandbox.tasks.seeds.languages import Source, parsed
from sandbox.tasks.sources import Sources


@dataclass(frozen=True, slots=True)
class MinedRepository:
    """What seeds are made of."""

    folder: SeedFolder
    sources: tuple[Source, ...]
    """The files that defects are planted in."""
    older: tuple[tuple[str, dict[str, bytes]], ...]
    """What such files held in each release before it, by version, from the last one back."""
    tests: tuple[Source, ...]

    @property
    def repository(self) -> Repository:
        """Its pins."""
        return self.folder.repository

    @property
    def mining(self) -> Mining:
        """How it is mined."""
        return self.folder.mining

    @property
    def release(self) -> Release:
        """The one that defects are planted in."""
        wanted = self.mining.release
        return next(each for each in self.repository.releases if each.version == wanted)

    def under_sanitizers(self) -> Self:
        """Give it as it is there. UsageError where nothing says how."""
        return replace(self, folder=self.folder.under_sanitizers())

    def task(self) -> LoadedTask:
        """Give the task whose image holds the release as upstream wrote it, and nothing else."""
        name = self.repository.name
        data = {
            "id": f"{name}/bare",
            "facet": "edit_test_loop",
            "title": f"{name} as upstream released it",
            "prompt": "No agent is given this.",
            "image": self.mining.image,
            "world": {"release": self.mining.release},
            "scope": {},
            "tests": {
                "framework": self.mining.framework,
                "command": self.mining.command,
                "fail_to_pass": [f"{test.path}::" for test in self.tests],
                "timeout_seconds": self.mining.timeout_seconds,
                "sanitized": self.folder.sanitized,
            },
            "oracle": [{"action": "final_answer", "arguments": {"fields": {}}}],
        }
        task = Task.model_validate(data, strict=False)
        said = f"{self.repository.model_dump_json()}\n{self.mining.model_dump_json()}"
        digest = hashlib.sha256(said.encode()).hexdigest()
        return LoadedTask(task, self.folder.path, self.repository, digest)


def load(name: str, cache: Sources, on_line: Callable[[str], None]) -> MinedRepository:
    """Read a repository's files at its release, which are fetched where they are not here.

    UsageError where it cannot be mined or its globs match nothing, DocumentError, SourceError,
    RepositoryError.
    """
    folder = seed_folder.load(name)
    mining, repository, file = folder.mining, folder.repository, folder.path / MINING
    shown = _shown(repository, mining, file)
    archives = cache.fetch_all((release.source for release in shown), on_line)
    files = _files(repository, archives[shown[-1].source])
    tests, without = Globs(mining.tests), Globs((*mining.without, *repository.generated))
    sources = Globs(mining.sources)

    def is_source(path: str) -> bool:
        return sources.match(path) and not without.match(path) and not tests.match(path)

    code = _parsed(files, is_source)
    own = _parsed(files, lambda path: tests.match(path) and not without.match(path))
    for what, found in (("sources", code), ("tests", own)):
        if not found:
            raise UsageError(
                f"{file}: `{what}` matches no file of {name} {mining.release}.",
                "Globs start at the top of the checkout; `**` stands for folders.",
            )
    suffixes = {PurePath(each.path).suffix for each in code}
    older = tuple(
        (release.version, _alike(repository, archives[release.source], suffixes))
        for release in reversed(shown[:-1])
    )
    return MinedRepository(folder, code, older, own)


def _shown(repository: Repository, mining: Mining, path: Path) -> tuple[Release, ...]:
    """Give the release and those before it."""
    versions = [release.version for release in repository.releases]
    if mining.release not in versions:
        raise UsageError(
            f"{path}: release {mining.release} is not one of {', '.join(versions)}.",
            f"Name one of them, or pin it in {REPOSITORY}.",
        )
    return repository.releases[: versions.index(mining.release) + 1]


def _files(repository: Repository, path: Path) -> dict[str, bytes]:
    """Read the files of a release, under the names that they have here."""
    renaming = Renaming(repository.words)
    found = (*archive.read(path, renaming), *archive.added(repository.added, renaming))
    return {file.path: file.data for file in found}


def _alike(repository: Repository, path: Path, suffixes: Collection[str]) -> dict[str, bytes]:
    """Give the files of a release that may hold code of the same language."""
    found = _files(repository, path).items()
    return {name: data for name, data in found if PurePath(name).suffix in suffixes}


def _parsed(files: dict[str, bytes], wanted: Callable[[str], bool]) -> tuple[Source, ...]:
    sources = (parsed(path, files[path]) for path in sorted(files) if wanted(path))
    return tuple(source for source in sources if source is not None)
