"""A new repository's folder: its pins, what its tests need, and how it is mined."""

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

from packaging.requirements import Requirement

from sandbox.model import documents, places, yaml_tree
from sandbox.model.artifact import Artifact, ArtifactKind
from sandbox.model.errors import SourceError, UsageError
from sandbox.model.listing import some
from sandbox.model.places import MINING, REPOSITORY
from sandbox.model.repository import Repository
from sandbox.model.scratch import Scratch
from sandbox.model.seed import Mining
from sandbox.tasks.authoring import git_history, layout, needs, registries, requirements
from sandbox.tasks.authoring.layout import Layout
from sandbox.tasks.authoring.needs import Needs
from sandbox.tasks.authoring.origin import Origin
from sandbox.tasks.authoring.pinning import pinned
from sandbox.tasks.authoring.project import Project
from sandbox.tasks.authoring.requirements import Asked
from sandbox.tasks.repos import archive
from sandbox.tasks.sources import Sources
from sandbox.tasks.sources.cache import GIVEN

NAME = r"[a-z0-9][a-z0-9.-]*"
SHOWN = 5
"""Packages that a note names."""
OnLine = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an author asks for."""

    name: str
    origin: Origin
    releases: int
    requires: tuple[str, ...] = ()
    """Packages in the place of those that the language's framework needs, and of what a project
    from git says that it needs."""
    also: tuple[str, ...] = ()
    """Packages beside these."""
    constraints: tuple[str, ...] = ()
    """What any of these packages has to be, e.g. `werkzeug<3`."""
    like: Repository | None = None
    """A repository whose requirements are taken, and nothing is asked for."""


@dataclass(frozen=True, slots=True)
class Made:
    """What has been written, and what the author should know."""

    folder: Path
    repository: Repository
    minable: bool
    notes: tuple[str, ...]


def make(wanted: Wanted, tasks: Path, sources: Sources, on_line: OnLine) -> Made:
    """Write `<tasks>/<name>/repo.yaml` and, where there are tests, `mining.yaml`.

    UsageError where the name is taken or no name, SourceError where a client fails,
    RepositoryError for an archive that cannot be used. Where it fails, nothing is written.
    """
    if not re.fullmatch(NAME, wanted.name):
        raise UsageError(f"{wanted.name!r} is not a valid name.", "For example: humanize.")
    target = tasks / wanted.name
    if target.exists():
        raise UsageError(f"{target} is there already.", "Choose another name, or remove it.")
    with Scratch("new") as folder:
        project = _project(wanted, folder, on_line)
        newest = project.releases[-1]
        seen = layout.told(newest.path, project.kind)
        needed, lacking = _needed(wanted, project, seen, (folder, sources), on_line)
        draft = folder / "draft"
        draft.mkdir()
        repository = _written(wanted, project, seen, needed, (draft, sources))
        minable = _mining(seen, newest.version, wanted.name, draft)
        tasks.mkdir(parents=True, exist_ok=True)
        shutil.copytree(draft, target)
    return Made(target, repository, minable, (*lacking, *_notes(project, seen)))


def known(name: str) -> Repository:
    """Read the repo file of a repository that is there; UsageError where none is, DocumentError."""
    return documents.load(folder_of(name) / REPOSITORY, Repository)


def folder_of(name: str) -> Path:
    """Find a repository's folder; UsageError where there is none."""
    for folder in places.task_folders():
        if (folder / name / REPOSITORY).is_file():
            return folder / name
    raise UsageError(f"There is no repository {name!r}.", "`sandbox tasks` lists the tasks.")


def _needed(
    wanted: Wanted,
    project: Project,
    seen: Layout,
    place: tuple[Path, Sources],
    on_line: OnLine,
) -> tuple[tuple[Artifact, ...], tuple[str, ...]]:
    """Pin what the tests need; of a project from git, what it says itself, and a note without."""
    if wanted.like is not None:
        return wanted.like.requirements, ()
    release = project.releases[-1]
    told = Needs()
    if wanted.origin.registry == "git" and not wanted.requires:
        told = needs.told({file.path: file.data for file in archive.read(release.path)})
    framework = wanted.requires or seen.requires
    tests = [each for each in told.tests if not _among(each, framework)]

    def found(packages: Sequence[str]) -> tuple[Artifact, ...]:
        every = (*told.own, *packages, *framework, *wanted.also)
        asked = Asked(every, wanted.constraints, told.name)
        return requirements.found(wanted.origin, release.version, asked, place, on_line)

    names = [Requirement(each).name for each in tests]
    shown = some(tests, SHOWN)
    for packages, note in (
        (tests, ""),
        (names, f"What only its tests need was taken in other versions: {shown}."),
        ([], f"What only its tests need cannot be had together and is missing: {shown}."),
    ):
        try:
            return found(packages), ((note,) if note else ())
        except SourceError:
            if not packages:
                raise
    raise AssertionError  # the last one has no packages


def _among(package: str, framework: Sequence[str]) -> bool:
    """Whether it is one that the framework names: which version, is the framework's to say."""
    name = Requirement(package).name.lower()
    return any(re.fullmatch(rf"{re.escape(name)}([^a-z0-9._-].*)?", each) for each in framework)


def _project(wanted: Wanted, folder: Path, on_line: OnLine) -> Project:
    if wanted.origin.registry == "git":
        on_line(f"{wanted.origin.name}: reading its history")
        return git_history.found(wanted.origin, wanted.name, wanted.releases, folder)
    return registries.found(wanted.origin, wanted.releases, folder, on_line)


def _written(
    wanted: Wanted,
    project: Project,
    seen: Layout,
    needed: Sequence[Artifact],
    place: tuple[Path, Sources],
) -> Repository:
    folder, sources = place
    releases = []
    for release in project.releases:
        if project.kind is ArtifactKind.FILE:
            (folder / GIVEN).mkdir(exist_ok=True)
            shutil.copyfile(release.path, folder / GIVEN / release.path.name)
        source = pinned(
            project.kind, project.name, release.version, release.path, sources, project.suite
        )
        date = release.date.astimezone(UTC).isoformat(timespec="seconds")
        pin = source.model_dump(mode="json", exclude_defaults=True)
        releases.append({"version": release.version, "date": date, "source": pin})
    data = {
        "name": wanted.name,
        "summary": project.summary,
        "license": project.license,
        "home": project.home,
        "author": {
            "name": f"{wanted.name} maintainers",
            "email": f"{wanted.name}@example.org",
        },
        "releases": releases,
        "strip": list(seen.strip),
        "paths": list(seen.paths),
        "requirements": [each.model_dump(mode="json", exclude_defaults=True) for each in needed],
    }
    text = yaml_tree.text(data)
    head = f"# {wanted.name}, rebuilt from its releases; made by `sandbox new`.\n"
    (folder / REPOSITORY).write_text(head + text)
    return documents.load(folder / REPOSITORY, Repository)


def _mining(seen: Layout, release: str, name: str, folder: Path) -> bool:
    """Write how the repository is mined, where its framework and its tests are known."""
    if seen.framework is None or seen.command is None or not (seen.sources and seen.tests):
        return False
    data = {
        "release": release,
        "image": seen.image,
        "framework": seen.framework,
        "command": seen.command,
        "sources": list(seen.sources),
        "tests": list(seen.tests),
        "leaves": list(seen.leaves),
    }
    text = yaml_tree.text(data)
    (folder / MINING).write_text(f"# How {name} is mined for seeds.\n{text}")
    documents.load(folder / MINING, Mining)
    return True


def _notes(project: Project, seen: Layout) -> tuple[str, ...]:
    notes = list(project.notes)
    unknown = [
        name for name in ("summary", "license", "home") if getattr(project, name) == "unknown"
    ]
    if unknown:
        notes.append(f"Nothing tells its {', '.join(unknown)}: fill in {REPOSITORY}.")
    if not seen.tests:
        notes.append("Its archive holds no tests that can be told by their names.")
    elif seen.framework is None:
        notes.append("No framework of tests is known for its language, so it cannot be mined.")
    return tuple(notes)
