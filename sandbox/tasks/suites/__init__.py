"""Suites: variants that are drawn by facet and level, checked, and pinned by their digests."""

from sandbox.tasks.suites.generator import Generated, Wanted, generate

__all__ = ["Generated", "Wanted", "generate"]
