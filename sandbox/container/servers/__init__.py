"""The world's tool servers, in the container, and the harness as their client."""

from sandbox.container.servers.mcp_client import Tool, ToolAnswer, UnavailableError
from sandbox.container.servers.servers import PLACE, SERVER_USER, Servers

__all__ = ["PLACE", "SERVER_USER", "Servers", "Tool", "ToolAnswer", "UnavailableError"]
