"""Container engines. `connect` reaches the one this machine has."""

from sandbox.container.engines.find import connect

__all__ = ["connect"]
