"""A package registry over HTTP, serving pinned files and nothing else."""

from sandbox.container.mirror.mirror import Mirror, Served

__all__ = ["Mirror", "Served"]
