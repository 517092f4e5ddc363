"""A file that was fetched, pinned by its digest and put into the cache."""

import hashlib
from pathlib import Path

from sandbox.model.artifact import Artifact, ArtifactKind
from sandbox.tasks.sources import Sources


def pinned(
    kind: ArtifactKind,
    name: str,
    version: str,
    path: Path,
    sources: Sources,
    suite: str | None = None,
) -> Artifact:
    """Pin a file, and keep it so that it is not fetched again."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    artifact = Artifact(
        kind=kind, name=name, version=version, filename=path.name, sha256=digest, suite=suite
    )
    sources.adopt(artifact, path)
    return artifact
