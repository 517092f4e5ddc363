"""Real projects as git repositories whose object store holds only what a task shows."""

from sandbox.tasks.repos.leaks import blob_id, leaks
from sandbox.tasks.repos.repository_builder import BuiltRepository, RepositoryBuilder
from sandbox.tasks.repos.task_repository import build, hidden_blobs

__all__ = [
    "BuiltRepository",
    "RepositoryBuilder",
    "blob_id",
    "build",
    "hidden_blobs",
    "leaks",
]
