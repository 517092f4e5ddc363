"""The way of an agent in the container to its model: one address, and a key that stays here."""

from sandbox.forwarder.forwarder import Forwarded, Forwarder
from sandbox.forwarder.interfaces import environment
from sandbox.forwarder.upstream import Upstream

__all__ = ["Forwarded", "Forwarder", "Upstream", "environment"]
