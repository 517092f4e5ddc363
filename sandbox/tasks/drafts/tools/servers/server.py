"""A tool server over a file of tickets: MCP over stdio. `server.py FILE.json`."""

import json
import sys
from pathlib import Path
from typing import Any

TICKET = {
    "type": "object",
    "properties": {"ticket": {"type": "string"}},
    "required": ["ticket"],
    "additionalProperties": False,
}
UNKNOWN = {"code": -32602, "message": "There is no such tool or method."}


class Tickets:
    """The tickets, and for each tool what it tells of one."""

    def __init__(self, path: Path) -> None:
        """Read the file."""
        self.data = json.loads(path.read_text("utf-8"))
        self.tools: dict[str, Any] = self.data["tools"]

    def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        """Answer a request; None where there is no such method or tool."""
        if method == "initialize":
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": self.data["name"], "version": "4"},
            }
        if method == "tools/list":
            listed = self.tools.items()
            return {
                "tools": [
                    {"name": name, "description": tool["about"], "inputSchema": TICKET}
                    for name, tool in listed
                ]
            }
        if method == "tools/call" and params.get("name") in self.tools:
            return self._call(params["name"], params.get("arguments", {}))
        return {} if method == "ping" else None

    def _call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if arguments.keys() != {"ticket"} or not isinstance(arguments["ticket"], str):
            return _refused("The one argument is `ticket`, as in OPS-12.")
        if arguments["ticket"] != self.data["ticket"]:
            return _refused("There is no such ticket.")
        found = self.tools[name]["tells"]
        text = [{"type": "text", "text": json.dumps(found)}]
        return {"content": text, "structuredContent": found}


def _refused(why: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": why}], "isError": True}


def main() -> None:
    """Answer line after line."""
    tickets = Tickets(Path(sys.argv[1]))
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = tickets.answer(message.get("method"), message.get("params", {}))
        reply = {"error": UNKNOWN} if result is None else {"result": result}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
