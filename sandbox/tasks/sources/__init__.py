"""Pinned artifacts, fetched by the registries' own clients into a verified cache."""

from sandbox.tasks.sources.cache import Sources

__all__ = ["Sources"]
