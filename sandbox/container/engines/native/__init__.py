"""Containers without an engine's daemon: overlays, crun and the same supervisor (Linux)."""
