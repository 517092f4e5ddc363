"""Container engines. `connect` reaches the one this machine has."""

from sandbox.container.engines.find import check_rights, connect

__all__ = ["check_rights", "connect"]
