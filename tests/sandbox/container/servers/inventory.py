"""A real MCP server, by the protocol's own library."""

from typing import Any

from mcp.server import MCPServer

server = MCPServer("inventory")


@server.tool()
def count(item: str) -> int:
    """How many there are."""
    return {"bolt": 7}[item]


@server.tool()
def describe(item: str, size: float = 1.0) -> dict[str, Any]:
    """What it is."""
    return {"item": item, "size": size, "wörd": "ß"}


if __name__ == "__main__":
    server.run("stdio")
