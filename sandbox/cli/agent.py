"""What `--agent` and the options beside it mean."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from sandbox.errors import UsageError

if TYPE_CHECKING:
    from sandbox.agents.base import Agent
    from sandbox.agents.mcp_agent import Place
    from sandbox.store import RunFolder
    from sandbox.tasks import LoadedTask


class Protocol(StrEnum):
    """What a command speaks with the harness."""

    JSONL = "jsonl"
    MCP = "mcp"


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """An agent as the command line names it."""

    text: str
    protocol: Protocol | None = None
    """None for what is usual: JSON lines for a command."""


Make = Callable[["RunFolder"], "Agent"]


def choose_agent(choice: AgentChoice, task: "LoadedTask") -> Make:
    """Make an agent of `oracle`, `null`, `mcp`, a script or a command line."""
    from sandbox.agents.scripted import ScriptedAgent, null_agent
    from sandbox.documents import load
    from sandbox.model.task import Script

    text = choice.text
    if text == "mcp":
        return _waiting
    if choice.protocol is Protocol.MCP:
        return _client(text)
    if text == "oracle":
        return lambda _: ScriptedAgent(task.task.oracle)
    if text == "null":
        return lambda _: null_agent()
    if text.endswith((".yaml", ".yml")):
        script = load(Path(text), Script)
        return lambda _: ScriptedAgent(script.root, text)
    return _command(text)


def _command(text: str) -> Make:
    from sandbox.agents.command import CommandAgent

    return lambda folder: CommandAgent(text, folder.agent_log)


def _client(text: str) -> Make:
    from sandbox.agents.mcp_agent import CommandClient, McpAgent

    if text in ("oracle", "null") or text.endswith((".yaml", ".yml")):
        raise UsageError(f"{text} needs no protocol.", "Leave --protocol out.")
    return lambda folder: McpAgent(CommandClient(text), _place(folder))


def _place(folder: "RunFolder") -> "Place":
    from sandbox.agents.mcp_agent import Place

    return Place(folder.mcp_socket, folder.agent_output, folder.agent_log)


def _waiting(folder: "RunFolder") -> "Agent":
    from sandbox.agents.mcp_agent import McpAgent

    return McpAgent(None, _place(folder))
