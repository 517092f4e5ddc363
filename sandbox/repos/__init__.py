"""Real projects as git repositories whose object store holds only what a task shows."""

from sandbox.repos.build import build, hidden_blobs
from sandbox.repos.builder import BuiltRepository, RepositoryBuilder
from sandbox.repos.leaks import blob_id, leaks

__all__ = [
    "BuiltRepository",
    "RepositoryBuilder",
    "blob_id",
    "build",
    "hidden_blobs",
    "leaks",
]
