"""MCP as bytes: a client of the socket and one of HTTP, that can also say what no client should."""

import http.client
import json
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sandbox.agents.call_server import address

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "wire", "version": "0"},
}
PATIENCE = 30.0


class SocketClient:
    """A message per line."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        with address(path) as place:
            self.socket.connect(place)
        self.file = self.socket.makefile("rwb")
        self.count = 0

    def send(self, data: bytes) -> None:
        self.file.write(data + b"\n")
        self.file.flush()

    def say(self, **message: object) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def hear(self) -> dict[str, Any]:
        line = self.file.readline()
        assert line, "the server has gone"
        heard: dict[str, Any] = json.loads(line)
        return heard

    def request(self, method: str, params: object) -> int:
        self.count += 1
        self.say(id=self.count, method=method, params=params)
        return self.count

    def answer(self, number: int) -> dict[str, Any]:
        while (heard := self.hear()).get("id") != number:
            assert "method" in heard, heard
        return heard

    def greet(self) -> dict[str, Any]:
        greeting = self.answer(self.request("initialize", HELLO))
        self.say(method="notifications/initialized")
        return greeting

    def begin(self, tool: str, **arguments: object) -> int:
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def call(self, tool: str, /, **arguments: object) -> dict[str, Any]:
        found: dict[str, Any] = self.answer(self.begin(tool, **arguments))["result"]
        return found

    def close(self) -> None:
        self.file.close()
        self.socket.close()


class HttpClient:
    """A message per request."""

    def __init__(self, url: str, token: str) -> None:
        parts = urlsplit(url)
        self.path = parts.path
        self.connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)
        self.headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
        }
        self.count = 0

    def post(self, body: bytes) -> tuple[int, bytes]:
        self.connection.request("POST", self.path, body, self.headers)
        response = self.connection.getresponse()
        if session := response.getheader("mcp-session-id"):
            self.headers["Mcp-Session-Id"] = session
        return response.status, response.read()

    def request(self, method: str, params: object) -> dict[str, Any]:
        self.count += 1
        message = {"jsonrpc": "2.0", "id": self.count, "method": method, "params": params}
        status, body = self.post(json.dumps(message).encode())
        assert status == 200, (status, body)
        events = [line[6:] for line in body.splitlines() if line.startswith(b"data: ")]
        found: dict[str, Any] = json.loads(events[-1] if events else body)
        return found

    def greet(self) -> None:
        self.request("initialize", HELLO)
        self.post(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode())

    def call(self, tool: str, /, **arguments: object) -> dict[str, Any]:
        params = {"name": tool, "arguments": arguments}
        found: dict[str, Any] = self.request("tools/call", params)["result"]
        return found

    def close(self) -> None:
        self.connection.close()
