"""An environment of mini-swe-agent whose commands run in the harness's container.

It is imported by the client, from its own installation, so it needs nothing but the standard
library and the client. A command `sandbox ACTION JSON` is that action of the harness, any other is
`run_command`. It speaks MCP over the run's socket (`SANDBOX_MCP_SOCKET`), a message per line.
"""

import json
import os
import platform
import shlex
import socket
from pathlib import Path
from typing import Any

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "mini-swe-agent", "version": "0"},
}


class SandboxEnvironment:
    """What mini-swe-agent expects of an environment."""

    def __init__(self, **config: Any) -> None:  # noqa: ANN401 - whatever the client is configured with
        self.config = config
        self._count = 0
        path = Path(os.environ["SANDBOX_MCP_SOCKET"])
        connection = socket.socket(socket.AF_UNIX)
        # The address holds 107 bytes only; a folder that is open has a short name.
        folder = os.open(path.parent, os.O_RDONLY)
        connection.connect(f"/proc/self/fd/{folder}/{path.name}")
        os.close(folder)
        self._lines = connection.makefile("rwb")
        self._ask("initialize", HELLO)
        self._send({"method": "notifications/initialized"})

    def execute(
        self,
        action: dict[str, Any],
        cwd: str = "",  # noqa: ARG002
        *,
        timeout: int | None = None,
    ) -> dict[str, Any]:
        """Run a command or do an action; ends the client once its final answer is accepted."""
        name, arguments = _action(str(action.get("command", "")))
        if name == "run_command" and timeout:
            arguments = {**arguments, "timeout_seconds": timeout}
        result = self._ask("tools/call", {"name": name, "arguments": arguments})
        seen = result["structuredContent"]
        if name == "final_answer" and seen["status"] == "ok":
            from minisweagent.exceptions import Submitted  # type: ignore[import-not-found]

            extra = {"exit_status": "Submitted", "submission": json.dumps(arguments)}
            raise Submitted({"role": "exit", "content": "accepted", "extra": extra})
        return _output(name, seen)

    def get_template_vars(self, **more: Any) -> dict[str, Any]:  # noqa: ANN401
        """What the client's prompts may name."""
        return {**self.config, **platform.uname()._asdict(), **more}

    def serialize(self) -> dict[str, Any]:
        """What the client's trajectory says of it."""
        kind = f"{type(self).__module__}.{type(self).__name__}"
        return {"info": {"config": {"environment": self.config, "environment_type": kind}}}

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._count += 1
        self._send({"id": self._count, "method": method, "params": params})
        while line := self._lines.readline():
            heard: dict[str, Any] = json.loads(line)
            if heard.get("id") == self._count:
                if "error" in heard:
                    raise RuntimeError(f"the harness refused: {heard['error']}")
                result: dict[str, Any] = heard["result"]
                return result
        raise RuntimeError("the harness has gone")

    def _send(self, message: dict[str, Any]) -> None:
        self._lines.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._lines.flush()


def _action(command: str) -> tuple[str, dict[str, Any]]:
    """Tell an action of the harness from a shell line."""
    if command.lstrip().startswith("sandbox "):
        try:
            _, name, *rest = shlex.split(command)
            arguments = json.loads(rest[0]) if len(rest) == 1 else {} if not rest else None
        except ValueError:
            arguments = None
        if isinstance(arguments, dict):
            return name, arguments
    return "run_command", {"command": command}


def _output(name: str, seen: dict[str, Any]) -> dict[str, Any]:
    """Put an observation into the shape that the client knows."""
    result = seen["result"]
    failed = seen["status"] == "error"
    problem = f"{seen['error_code']}: {seen['message']}" if failed else ""
    if name == "run_command" and result:
        status = -1 if result["exit_code"] is None else result["exit_code"]
        output = result["stdout"] + result["stderr"]
    else:
        status, output = int(failed), json.dumps(result)
    return {"output": output, "returncode": status, "exception_info": problem}
