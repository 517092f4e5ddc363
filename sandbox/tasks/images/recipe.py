"""An image by its inputs: what it is called follows from what it is made of."""

import hashlib
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.container.engines.base import NOTHING, Engine, ImageInfo
from sandbox.model.container import Network
from sandbox.model.errors import ImageError
from sandbox.tasks.library import files_digest

OnLine = Callable[[str], None]

IMAGE, INPUTS = "sandbox.image", "sandbox.inputs"
"""Labels: what the image is, and the digest of all that it was made of."""

_VERSION = "1"
"""To be raised where the same inputs are made into another image."""

_FROM = re.compile(r"^FROM \S+$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Work:
    """What a recipe is carried out with."""

    engine: Engine
    folder: Path
    """An empty folder, which is removed afterwards."""
    parent: str
    """Tag of the image below; empty for a base."""
    on_line: OnLine

    def build(
        self,
        recipe: "Recipe",
        network: Network = "none",
        arguments: Mapping[str, str] = NOTHING,
    ) -> ImageInfo:
        """Build the folder, which holds a Dockerfile, as the image of a recipe."""
        return self.engine.build(
            self.folder,
            tag=recipe.tag,
            labels=recipe.labels,
            network=network,
            arguments=arguments,
            on_line=self.on_line,
        )


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one image is made."""

    name: str
    digest: str
    """SHA-256 over all inputs, those of the image below included."""
    parent: "Recipe | None"
    make: Callable[["Recipe", Work], ImageInfo]

    @property
    def tag(self) -> str:
        """What the image is called."""
        return f"sandbox/{self.name}:{self.digest[:16]}"

    @property
    def labels(self) -> dict[str, str]:
        """How the image is found again."""
        return {IMAGE: self.name, INPUTS: self.digest}


def digest(parent: Recipe | None, *inputs: str) -> str:
    """SHA-256 over all that an image is made of, and over how recipes are carried out."""
    whole = hashlib.sha256()
    for part in (parent.digest if parent else "", _VERSION, *inputs):
        whole.update(f"{len(part)}:{part}".encode())
    return whole.hexdigest()


def folder_digest(folder: Path, files: Iterable[Path]) -> str:
    """SHA-256 over some files below a folder."""
    return files_digest(sorted(files), folder)


def dockerfile(source: Path, work: Work) -> None:
    """Lay a Dockerfile of `images/` into the build context, `FROM` the image below."""
    text, count = _FROM.subn(f"FROM {work.parent}", source.read_text(encoding="utf-8"))
    if count != 1:
        raise ImageError(
            f"{source} has {count} lines `FROM <name>`; exactly one is needed.",
            "Correct it and build again; nothing was built.",
        )
    (work.folder / "Dockerfile").write_text(text, encoding="utf-8")


def copy(files: Iterable[Path], target: Path) -> None:
    """Copy files flat into a folder, which is made."""
    target.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copyfile(file, target / file.name)
