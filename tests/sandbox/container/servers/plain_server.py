"""A tool server without any library, for a container that has none."""

import json
import sys

total = 0
COUNT = {"type": "object", "properties": {"step": {"type": "integer"}}}


def tools() -> list[dict[str, object]]:
    return [{"name": "count", "inputSchema": COUNT}, {"name": "leave", "inputSchema": {}}]


for line in sys.stdin:
    message = json.loads(line)
    method, params = message["method"], message.get("params", {})
    reply: dict[str, object] = {"jsonrpc": "2.0", "id": message.get("id")}
    if method == "initialize":
        reply["result"] = {"protocolVersion": params["protocolVersion"], "capabilities": {}}
    elif method == "tools/list":
        reply["result"] = {"tools": tools()}
    elif method == "tools/call" and params["name"] == "count":
        total += params["arguments"]["step"]
        reply["result"] = {"content": [{"type": "text", "text": str(total)}]}
    elif method == "tools/call" and params["name"] == "leave":
        sys.stderr.write("gone\n")
        sys.exit(3)
    elif "id" in message:
        reply["error"] = {"code": -32602, "message": "unknown"}
    if "id" in message:
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()
