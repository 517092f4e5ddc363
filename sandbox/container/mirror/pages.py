"""What a registry has under a path."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Page:
    """Something made for the request."""

    package: str
    """Empty where it is about none."""
    body: bytes
    content_type: str


@dataclass(frozen=True, slots=True)
class Archive:
    """A pinned file."""

    package: str
    path: Path


@dataclass(frozen=True, slots=True)
class Moved:
    """Another path has it."""

    package: str
    location: str


Found = Page | Archive | Moved
