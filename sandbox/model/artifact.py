"""A pinned file of a package registry."""

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from sandbox.model.base import Record


class ArtifactKind(StrEnum):
    """What a file is, hence which client fetches it."""

    SDIST = "sdist"
    WHEEL = "wheel"
    NPM = "npm"
    DEB = "deb"


_SUFFIXES = {
    ArtifactKind.SDIST: (".tar.gz",),
    ArtifactKind.WHEEL: (".whl",),
    ArtifactKind.NPM: (".tgz",),
    ArtifactKind.DEB: (".deb",),
}


class Artifact(Record):
    """One file, the same for ever: whatever does not match the digest is refused."""

    kind: ArtifactKind
    name: str = Field(pattern=r"^(@[a-z0-9][a-z0-9._-]*/)?[A-Za-z0-9][A-Za-z0-9._+-]*$")
    version: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+!~:_-]*$")
    filename: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+!~%_-]*$")
    """What the registry calls the file; a wheel's tells Python version and platform."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")

    @model_validator(mode="after")
    def _filename_fits_kind(self) -> Self:
        suffixes = _SUFFIXES[self.kind]
        if not self.filename.endswith(suffixes):
            raise ValueError(f"the filename of a pinned {self.kind} ends in {suffixes[0]}")
        if self.kind is ArtifactKind.WHEEL and self.filename.count("-") not in (4, 5):
            raise ValueError("a wheel is named name-version[-build]-python-abi-platform.whl")
        return self
