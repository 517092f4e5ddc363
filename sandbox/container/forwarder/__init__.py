"""The way of an agent in the container to its model: one address, and a key that stays here."""

from sandbox.container.forwarder.forwarder import Forwarded, Forwarder
from sandbox.container.forwarder.interfaces import environment
from sandbox.container.forwarder.upstream import Upstream

__all__ = ["Forwarded", "Forwarder", "Upstream", "environment"]
