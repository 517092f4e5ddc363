"""The data files of images: `images/debian/base.yaml`, and `toolchain.yaml` beside a Dockerfile."""

from pydantic import Field

from sandbox.model.artifact import Artifact
from sandbox.model.base import Record


class Bootstrap(Record):
    """How the base is made of the distribution's packages."""

    suite: str = Field(pattern=r"^[a-z]+$")
    variant: str = Field(pattern=r"^[a-z]+$")
    """What mmdebstrap calls the choice of packages."""
    exclude: tuple[str, ...] = ()
    """Globs of paths that no package may install."""
    modified_before: int = Field(gt=0)
    """Seconds since 1970; later times of files are set to it."""


class Contract(Record):
    """What the base holds, whichever way it was made."""

    codename: str
    commands: tuple[str, ...]
    empty: tuple[str, ...]
    """Folders without a file below them."""
    free_ids: tuple[int, ...]
    """Numbers that no user and no group has."""


class BaseImage(Record):
    """A base that is pulled, or bootstrapped where no registry answers."""

    pull: str
    floats: str = ""
    """Why neither way is pinned by a digest; empty where `pull` is."""
    bootstrap: Bootstrap
    holds: Contract


class Toolchain(Record):
    """What a toolchain is made of besides the distribution's packages."""

    artifacts: tuple[Artifact, ...] = ()
    """Its Dockerfile finds them in `artifacts/`."""
