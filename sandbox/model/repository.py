"""The repo file: `task_repos/<repo>/repo.yaml`, a real project as pinned releases."""

from datetime import datetime
from pathlib import PurePosixPath
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from sandbox.model.artifact import Artifact, ArtifactKind
from sandbox.model.base import Record


def _has_zone(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is not an ISO 8601 date") from error
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} names no time zone; write e.g. 2024-10-05T14:28:32+00:00")
    return text


def _is_below(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or str(PurePosixPath(path)) != path:
        raise ValueError(f"{path!r} cannot be a path of a file from the top of the checkout on")
    if ".." in parts or any(part.lower() == ".git" for part in parts):
        raise ValueError(f"{path!r} does not lie in the checkout")
    return path


PathBelow = Annotated[str, AfterValidator(_is_below)]
"""A file's path from the top of the checkout on, with slashes."""

Moment = Annotated[str, AfterValidator(_has_zone)]
"""ISO 8601 with a zone."""


class Person(Record):
    """Author and committer of commits."""

    name: str = Field(min_length=1, pattern=r"^[^<>\n]+$")
    email: str = Field(min_length=1, pattern=r"^[^<>\s]+$")


class Release(Record):
    """One upstream release, which becomes a commit and a tag."""

    version: str = Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z.+_-]*$")
    """Also the tag's name."""
    date: Moment
    """When the source was uploaded to its registry."""
    source: Artifact

    @model_validator(mode="after")
    def _is_an_archive_of_sources(self) -> Self:
        if self.source.kind in (ArtifactKind.WHEEL, ArtifactKind.DEB):
            raise ValueError(
                f"a release is made from an sdist, npm or debian source, or a file, not from a "
                f"{self.source.kind}"
            )
        return self


class Repository(Record):
    """A project, its releases from old to new, and what its image needs."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")
    summary: str
    license: str
    """An SPDX expression."""
    home: str
    """Web page."""
    author: Person
    releases: tuple[Release, ...] = Field(min_length=1)
    strip: tuple[str, ...] = ()
    """Globs of files that the archive holds and a checkout does not."""
    added: dict[PathBelow, str] = Field(default={}, exclude_if=lambda it: not it)
    """Files of the checkout that no archive holds, by path, and their text: a registry's archive
    often leaves out what configures the tests."""
    generated: tuple[str, ...] = ()
    """Globs of files that a build makes: never committed, but laid into the worktree."""
    paths: tuple[str, ...] = ()
    """Folders of the checkout from which the toolchain imports the project, e.g. `src`."""
    requirements: tuple[Artifact, ...] = ()
    """Packages installed beside the project in the image. Of several versions of one npm package
    the last is the project's own; the others are for packages that need them."""

    words: dict[str, str] = Field(default={}, exclude_if=lambda it: not it)
    """What stands in the place of upstream's own names, by whole words, in all files and paths."""

    @model_validator(mode="after")
    def _releases_are_in_order(self) -> Self:
        versions = [release.version for release in self.releases]
        if len(set(versions)) < len(versions):
            raise ValueError("two releases have the same version")
        dates = [datetime.fromisoformat(release.date) for release in self.releases]
        if dates != sorted(dates):
            raise ValueError("releases stand from old to new")
        return self
