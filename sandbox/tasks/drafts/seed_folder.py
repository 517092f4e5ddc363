"""A repository that can be mined, as its folder tells: its seeds, and how it is mined for them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from sandbox.model import documents, places, yaml_tree
from sandbox.model.errors import UsageError
from sandbox.model.places import ESTRANGED, MINING, PASSING, REPOSITORY, SEEDS, SHIPPED
from sandbox.model.renaming import NewNames, Renaming
from sandbox.model.repository import Repository
from sandbox.model.run_folder import write_whole
from sandbox.model.seed import Mining, PassingFile, Seed, SeedFile

HEAD = "# Made by `sandbox mine {}`; each is tried again by `sandbox mine {} --check`.\n"
PASSING_HEAD = "# Upstream's tests that pass without a defect, as `sandbox mine {}` found them.\n"


NAMED = ("summary", "home", "author", "strip", "generated", "paths")
"""Of a repository's file: what has upstream's names for what lies in the checkout."""
UPSTREAM = Renaming()

NAMES_HEAD = (
    "# {} under other names; made by `sandbox estrange {}`, tried by `sandbox mine {} --check`.\n"
)


@dataclass(frozen=True, slots=True)
class SeedFolder:
    """What stands in the folder."""

    path: Path
    repository: Repository
    mining: Mining
    renaming: Renaming = UPSTREAM
    """What upstream's names became in all that is read from it."""
    sanitized: bool = False
    """Whether its tests are run under sanitizers."""

    def under_sanitizers(self) -> Self:
        """Give it as it is there. UsageError where nothing says how."""
        if self.mining.sanitized is None:
            raise UsageError(
                f"{self.repository.name} is not mined under sanitizers.",
                f"Say how by `sanitized` in {self.path / MINING}: docs/seeds.md.",
            )
        mining = self.mining.model_copy(update={"command": self.mining.sanitized.command})
        return replace(self, mining=mining, sanitized=True)

    def require_costs(self) -> None:
        """UsageError where no tests count what calls cost."""
        if not self.mining.costs:
            raise UsageError(
                f"No tests of {self.repository.name} count what calls cost.",
                f"Name some by `costs` in {self.path / MINING}: docs/seeds.md.",
            )

    @property
    def seeds(self) -> SeedFile:
        """What has been mined; nothing where there is no file yet.

        UsageError where it is of another release, DocumentError.
        """
        path = self.path / SEEDS
        if not path.is_file():
            return SeedFile(release=self.mining.release)
        found = documents.load(path, SeedFile)
        self._compare(path, found.release)
        return self.renaming.record(found)

    @property
    def passing(self) -> tuple[str, ...]:
        """The ids of upstream's tests that pass without a defect; none where nobody has said so.

        Raises as `seeds`.
        """
        path = self.path / PASSING
        if not path.is_file():
            return ()
        found = documents.load(path, PassingFile)
        self._compare(path, found.release)
        ids = self.renaming.record(found).ids
        under = self.mining.sanitized if self.sanitized else None
        left_out = {*self.mining.unsteady, *(under.without if under else ())}
        return tuple(test for test in ids if test not in left_out)

    @property
    def shipped(self) -> dict[str, bytes]:
        """What is committed in each task of a seed beside upstream's files, by its path there."""
        top = self.path / SHIPPED
        paths = sorted(path for path in top.rglob("*") if path.is_file())
        named = ((path.relative_to(top).as_posix(), path.read_bytes()) for path in paths)
        return {
            self.renaming.text(name): self.renaming.data(name, content) for name, content in named
        }

    def store(self, seed: Seed) -> None:
        """Write a seed down; one of the same name is replaced."""
        seeds = [*(each for each in self.seeds.seeds if each.id != seed.id), seed]
        file = SeedFile(
            release=self.mining.release, seeds=tuple(sorted(seeds, key=lambda each: each.id))
        )
        head = HEAD.format(*(self.repository.name,) * 2)
        text = yaml_tree.text(file.model_dump(mode="json", exclude_unset=True))
        write_whole(self.path / SEEDS, f"{head}{text}".encode())

    def store_names(self, name: str, words: Mapping[str, str]) -> Path:
        """Write down under which names the repository is to be had as well; give the file."""
        path = self.path / ESTRANGED / f"{name}.yaml"
        text = yaml_tree.text(NewNames(words=dict(words)).model_dump(mode="json"))
        path.parent.mkdir(exist_ok=True)
        write_whole(path, f"{NAMES_HEAD.format(*(self.repository.name,) * 2, name)}{text}".encode())
        return path

    def store_passing(self, tests: Iterable[str]) -> None:
        """Write down which tests pass without a defect."""
        by_file: dict[str, list[str]] = {}
        for test in sorted(tests):
            path, _, name = test.partition("::")
            by_file.setdefault(path, []).append(name)
        file = PassingFile.model_validate(
            {"release": self.mining.release, "tests": by_file}, strict=False
        )
        head = PASSING_HEAD.format(self.repository.name)
        text = yaml_tree.text(file.model_dump(mode="json"))
        write_whole(self.path / PASSING, f"{head}{text}".encode())

    def _compare(self, path: Path, release: str) -> None:
        if release != self.mining.release:
            raise UsageError(
                f"{path} is of release {release}, and {MINING} names {self.mining.release}.",
                f"Keep the old file under another name and repeat, or name {release} again.",
            )


def names() -> list[str]:
    """Repositories that can be mined, in order."""
    return sorted(name for name, path in folders().items() if path.is_dir())


def estranged() -> list[str]:
    """The names of repositories that are there under other ones as well, in order."""
    return sorted(folders().keys() - names())


def folders() -> dict[str, Path]:
    """Find them, by name; of one that is estranged the file of its names."""
    found: dict[str, Path] = {}
    for root in places.task_folders():
        for file in root.glob(f"*/{MINING}"):
            found.setdefault(file.parent.name, file.parent)
        for file in root.glob(f"*/{ESTRANGED}/*.yaml"):
            found.setdefault(file.stem, file)
    return found


def load(name: str) -> SeedFolder:
    """Read a repository's folder. UsageError where it cannot be mined; DocumentError."""
    known = folders()
    if name not in known:
        raise UsageError(
            f"There is no repository {name!r} that can be mined.",
            f"Those with a {MINING}: {', '.join(names()) or 'none'}.",
        )
    return load_at(known[name])


def load_at(path: Path) -> SeedFolder:
    """Read a folder that has a `mining.yaml`, or a file of other names in it; DocumentError."""
    folder = path if path.is_dir() else path.parent.parent
    mining = documents.load(folder / MINING, Mining)
    repository = documents.load(folder / REPOSITORY, Repository)
    if folder == path:
        return SeedFolder(path, repository, mining)
    return under_other_names(SeedFolder(folder, repository, mining), path.stem, _words(path))


def under_other_names(of: SeedFolder, name: str, words: Mapping[str, str]) -> SeedFolder:
    """Give a repository as it is where it is called so, and these words stand for its own."""
    renaming = Renaming(words)
    renamed = renaming.record(of.repository, NAMED)
    repository = renamed.model_copy(update={"name": name, "words": dict(words)})
    return SeedFolder(of.path, repository, renaming.record(of.mining), renaming)


def _words(path: Path) -> dict[str, str]:
    return documents.load(path, NewNames).words
