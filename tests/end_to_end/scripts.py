"""Scripts for agents: a list of actions as a YAML file."""

import json
from pathlib import Path

from pydantic import JsonValue

Action = tuple[str, dict[str, JsonValue]]


def write(path: Path, *actions: Action) -> Path:
    """Write a script; JSON is YAML."""
    rows = [{"action": name, "arguments": arguments} for name, arguments in actions]
    path.write_text(json.dumps(rows, indent=1, ensure_ascii=False))
    return path


def command(line: str, seconds: float | None = None) -> Action:
    return "run_command", {"command": line} | ({"timeout_seconds": seconds} if seconds else {})
