"""A repository that can be mined, as its folder tells: its seeds, and how it is mined for them."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sandbox.model import documents, places, yaml_tree
from sandbox.model.errors import UsageError
from sandbox.model.places import MINING, PASSING, REPOSITORY, SEEDS
from sandbox.model.repository import Repository
from sandbox.model.run_folder import write_whole
from sandbox.model.seed import Mining, PassingFile, Seed, SeedFile

HEAD = "# Made by `sandbox mine {}`; each is tried again by `sandbox mine {} --check`.\n"
PASSING_HEAD = "# Upstream's tests that pass without a defect, as `sandbox mine {}` found them.\n"


@dataclass(frozen=True, slots=True)
class SeedFolder:
    """What stands in the folder."""

    path: Path
    repository: Repository
    mining: Mining

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
        return found

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
        return found.ids

    def store(self, seed: Seed) -> None:
        """Write one more seed down."""
        seeds = [*self.seeds.seeds, seed]
        file = SeedFile(
            release=self.mining.release, seeds=tuple(sorted(seeds, key=lambda each: each.id))
        )
        head = HEAD.format(*(self.repository.name,) * 2)
        text = yaml_tree.text(file.model_dump(mode="json"))
        write_whole(self.path / SEEDS, f"{head}{text}".encode())

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
    return sorted(folders())


def folders() -> dict[str, Path]:
    """Find them, by name."""
    found: dict[str, Path] = {}
    for root in places.task_folders():
        for file in root.glob(f"*/{MINING}"):
            found.setdefault(file.parent.name, file.parent)
    return found


def load(name: str) -> SeedFolder:
    """Read a repository's folder. UsageError where it cannot be mined; DocumentError."""
    known = folders()
    if name not in known:
        raise UsageError(
            f"There is no repository {name!r} that can be mined.",
            f"Those with a {MINING}: {', '.join(sorted(known)) or 'none'}.",
        )
    return load_at(known[name])


def load_at(path: Path) -> SeedFolder:
    """Read a folder that has a `mining.yaml`; DocumentError."""
    mining = documents.load(path / MINING, Mining)
    return SeedFolder(path, documents.load(path / REPOSITORY, Repository), mining)
