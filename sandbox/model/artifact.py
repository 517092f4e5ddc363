"""A pinned file of a package registry."""

from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, model_validator

from sandbox.model.base import Record

Machine = Literal["x86_64", "aarch64"]
"""Kinds of machines, as `uname -m` calls them."""


class ArtifactKind(StrEnum):
    """What a file is, hence which client fetches it."""

    SDIST = "sdist"
    WHEEL = "wheel"
    NPM = "npm"
    DEB = "deb"
    DEBIAN = "debian"
    """The upstream tarball of a Debian source package."""
    FILE = "file"
    """An archive that the author gives: it lies in `sources/` beside the repo file."""


_SUFFIXES = {
    ArtifactKind.SDIST: (".tar.gz",),
    ArtifactKind.WHEEL: (".whl",),
    ArtifactKind.NPM: (".tgz",),
    ArtifactKind.DEB: (".deb",),
    ArtifactKind.DEBIAN: (".orig.tar.gz", ".orig.tar.xz", ".orig.tar.bz2"),
    ArtifactKind.FILE: (".tar.gz", ".tar.xz", ".tar.bz2"),
}


class Artifact(Record):
    """One file, the same for ever: whatever does not match the digest is refused."""

    kind: ArtifactKind
    name: str = Field(pattern=r"^(@[a-z0-9][a-z0-9._-]*/)?[A-Za-z0-9][A-Za-z0-9._+-]*$")
    version: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+!~:_-]*$")
    filename: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+!~%_-]*$")
    """What the registry calls the file; a wheel's tells Python version and platform."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    suite: str | None = Field(
        default=None, pattern=r"^[a-z][a-z-]*$", exclude_if=lambda suite: suite is None
    )
    """The suite that holds a Debian source package, e.g. `bookworm`; `version` is upstream's."""

    machine: Machine | None = Field(default=None, exclude_if=lambda machine: machine is None)
    """The one kind of machine that a file with compiled code is for; others leave it out."""

    @model_validator(mode="after")
    def _suite_fits_kind(self) -> Self:
        if (self.suite is None) is (self.kind is ArtifactKind.DEBIAN):
            raise ValueError("a Debian source names its suite, and nothing else does")
        return self

    @model_validator(mode="after")
    def _filename_fits_kind(self) -> Self:
        suffixes = _SUFFIXES[self.kind]
        if not self.filename.endswith(suffixes):
            raise ValueError(f"the filename of a pinned {self.kind} ends in {suffixes[0]}")
        if self.kind is ArtifactKind.WHEEL and self.filename.count("-") not in (4, 5):
            raise ValueError("a wheel is named name-version[-build]-python-abi-platform.whl")
        return self
