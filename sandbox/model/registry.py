"""A package registry that a task's world offers by grant, and what goes wrong with it."""

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from sandbox.model import glob
from sandbox.model.artifact import Artifact, ArtifactKind
from sandbox.model.base import Record


class RegistryFault(Record):
    """Something that goes wrong with requests that match; all fields that are given must hold."""

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    effect: Literal["unavailable", "truncated", "wrong_hash", "delay"]
    """503; half of an archive, announced as the whole; a good archive that is not the one of the
    index; an answer that comes late."""
    package: str = "*"
    """A glob over the package's name, of Python packages the normalized one."""
    path: str | None = None
    """A glob over the request's path, without its first and last slash."""
    times: int | None = Field(default=None, ge=1)
    """How many requests of a run it befalls, the first ones; every one where it is left out."""
    seconds: float | None = Field(default=None, gt=0, le=600)
    """How late, of `delay`."""

    @field_validator("package", "path")
    @classmethod
    def _are_globs(cls, pattern: str | None) -> str | None:
        if pattern is not None and pattern.startswith("/"):
            raise ValueError("starts without a slash")
        return pattern if pattern is None else glob.check(pattern)

    @model_validator(mode="after")
    def _seconds_go_with_delay(self) -> Self:
        if (self.effect == "delay") != (self.seconds is not None):
            raise ValueError("`seconds` go with `delay`, and only with it")
        return self


class Registry(Record):
    """A PyPI index and an npm registry on the container's loopback."""

    artifacts: tuple[Artifact, ...] = Field(min_length=1)
    port: int = Field(default=4873, ge=1024, le=65535)
    scope: str = Field(default="network", min_length=1)
    """The permission that connects a command to it."""
    faults: tuple[RegistryFault, ...] = ()
    """The first that matches a request and is not used up befalls it."""

    @field_validator("artifacts")
    @classmethod
    def _are_served(cls, artifacts: tuple[Artifact, ...]) -> tuple[Artifact, ...]:
        for place, artifact in enumerate(artifacts):
            if artifact.kind is ArtifactKind.DEB:
                raise ValueError(f"{artifact.filename}: only Python and npm packages are served")
            if any(artifact.filename == other.filename for other in artifacts[:place]):
                raise ValueError(f"{artifact.filename} stands there twice")
        return artifacts

    @field_validator("faults")
    @classmethod
    def _ids_differ(cls, faults: tuple[RegistryFault, ...]) -> tuple[RegistryFault, ...]:
        for place, fault in enumerate(faults):
            if any(fault.id == other.id for other in faults[:place]):
                raise ValueError(f"two faults have the id {fault.id!r}")
        return faults
