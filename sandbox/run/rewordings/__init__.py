"""Rewordings: the same deeds in other words. A verdict that depends on them is a wrong one."""

from sandbox.run.rewordings.inside import inside
from sandbox.run.rewordings.rewording import catalog, reworded

__all__ = ["catalog", "inside", "reworded"]
