"""An agent as the command line names it into one that can act."""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sandbox.cli.agent_choice import AgentChoice, HarnessMode, Protocol
from sandbox.cli.inside import InsideChoice, equip, make
from sandbox.cli.terminal import mutter
from sandbox.model.errors import UsageError

if TYPE_CHECKING:
    from sandbox.agents.base import Agent
    from sandbox.agents.mcp_agent import Place
    from sandbox.model.client import ClientRecord
    from sandbox.model.run import Actor
    from sandbox.model.run_folder import RunFolder
    from sandbox.model.usage import Price
    from sandbox.run.trial import Inside
    from sandbox.tasks.library import LoadedTask


OUTSIDE = InsideChoice()


Make = Callable[["RunFolder"], "Agent"]


@dataclass(frozen=True, slots=True)
class ChosenAgent:
    """What makes the agent of a run, and what is known of it beforehand."""

    make: Make
    client: "ClientRecord | None" = None
    label: str = ""
    """What reports call it."""
    actor: "Actor | None" = None
    """What is known of it besides the label."""
    inside: "Inside | None" = None
    """What it has in the container, where it runs there."""

    @property
    def version(self) -> str:
        """What tells it from another of its label, where that is known."""
        return self.actor.version(self.client) if self.actor else ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is to be said before a run."""
        return self.client.warnings if self.client else ()

    def __call__(self, folder: "RunFolder") -> "Agent":
        """Make it."""
        return self.make(folder)


def choose_agent(
    choice: AgentChoice, task: "LoadedTask", within: InsideChoice = OUTSIDE
) -> ChosenAgent:
    """Make an agent of what the command line names."""
    from sandbox.agents.clients import preset_files

    within.check()
    try:
        choice.agent.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            "The command of --agent is not UTF-8, and a run's record is.",
            "Put it into a script whose name is.",
        ) from error
    if within.inside:
        found = _inside(choice, within)
    elif preset_files.named(choice.agent):
        found = _preset(choice)
    else:
        label = f"llm:{choice.model}" if choice.agent == "llm" else ""
        found = ChosenAgent(_make(choice, task), label=label)
    label = choice.name or found.label or choice.agent
    return replace(found, label=label, actor=_actor(choice, within))


def _actor(choice: AgentChoice, within: InsideChoice) -> "Actor":
    """Say what is known of an agent besides its label."""
    from sandbox.agents.clients import preset_files
    from sandbox.agents.program_digest import digest
    from sandbox.model.run import Actor

    return Actor(
        command=choice.agent,
        model=choice.model or "",
        digest=digest(choice.agent.removeprefix(preset_files.FILE), within.inside_files),
        tags=dict(_tag(text) for text in choice.tag),
    )


def _tag(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise UsageError(f"--tag {text} is not KEY=VALUE.", "For example: --tag branch=main.")
    return key, value


def _inside(choice: AgentChoice, within: InsideChoice) -> ChosenAgent:
    from sandbox.agents.clients import preset_files

    taken = (choice.protocol, choice.model, choice.base_url, choice.prices)
    if preset_files.named(choice.agent) or any(taken) or choice.mode is not HarnessMode.RAW:
        raise UsageError(
            "An agent inside of the container is a command line and speaks no protocol.",
            "Leave out --protocol, --model, --base-url, --prices and --mode.",
        )
    make(choice.agent)
    return ChosenAgent(lambda _: make(choice.agent), inside=equip(within))


def _make(choice: AgentChoice, task: "LoadedTask") -> Make:
    """Make an agent of `oracle`, `null`, `llm`, `human`, `mcp`, a script or a command line."""
    from sandbox.agents.scripted import null_agent
    from sandbox.model.documents import load
    from sandbox.model.task import Script
    from sandbox.run.scripted_agents import scripted

    text = choice.agent
    if text == "llm":
        return _llm(choice)
    if choice.model or choice.base_url or choice.prices:
        raise UsageError(
            "--model and --base-url go with `--agent llm` or a preset, --prices with `llm`.",
            f"The agent is {text!r}.",
        )
    if text == "human":
        return _human(choice)
    if text == "mcp":
        return _waiting
    if choice.protocol in (Protocol.MCP, Protocol.ACP):
        return _client(text, choice.protocol)
    if text == "oracle":
        return scripted(task.task, task.task.oracle)
    if text == "null":
        return lambda _: null_agent()
    if text.endswith((".yaml", ".yml")):
        script = load(Path(text), Script)
        return scripted(task.task, script.root, text)
    return _command(text)


def _command(text: str) -> Make:
    from sandbox.agents.program_agent import CommandAgent

    _look_for(text)
    return lambda folder: CommandAgent(text, folder.agent_log)


def _look_for(text: str) -> None:
    """UsageError where a command is a single word that names nothing: a slip, most likely."""
    import difflib
    import shutil

    from sandbox.agents.clients import preset_files

    if not re.fullmatch(r"[\w.-]+", text) or shutil.which(text) is not None:
        return
    known = ("oracle", "null", "llm", "human", "mcp", *preset_files.names())
    near = difflib.get_close_matches(text, known, n=1)
    raise UsageError(
        f"{text!r} is neither an agent of this name nor a program on this machine.",
        f"Did you mean {near[0]}?" if near else f"Those of a name: {', '.join(known)}.",
    )


def _preset(choice: AgentChoice) -> ChosenAgent:
    from sandbox.agents.clients import preset_files
    from sandbox.agents.clients.gate_reports import identify
    from sandbox.agents.clients.installation import locate
    from sandbox.agents.clients.preset_client import PresetClient, choose_model
    from sandbox.agents.mcp_agent import McpAgent
    from sandbox.model import places

    if choice.protocol not in (None, Protocol.MCP):
        raise UsageError(f"{choice.agent} speaks MCP.", "Leave --protocol out.")
    if choice.prices:
        raise UsageError("--prices goes with `--agent llm`.", "The client says what it cost.")
    preset = preset_files.find(choice.agent)
    model = choose_model(preset, choice.model, choice.base_url)
    installation = locate(preset, places.cache())
    client = PresetClient(preset, installation, model)
    found = identify(preset, installation, places.cache())
    label = f"{preset.name}:{choice.model}" if choice.model else preset.name
    return ChosenAgent(lambda folder: McpAgent(client, _place(folder)), found, label)


def _client(text: str, protocol: Protocol) -> Make:
    from sandbox.agents.acp_agent import AcpAgent
    from sandbox.agents.mcp_agent import CommandClient, McpAgent

    if text in ("oracle", "null") or text.endswith((".yaml", ".yml")):
        raise UsageError(f"{text} needs no protocol.", "Leave --protocol out.")
    if protocol is Protocol.ACP:
        return lambda folder: AcpAgent(text, _place(folder), _bridge(folder))
    return lambda folder: McpAgent(CommandClient(text), _place(folder))


def _bridge(folder: "RunFolder") -> tuple[str, ...]:
    """`sandbox mcp` for a run, whatever the PATH of who starts it."""
    source = "from sandbox.cli.app import main; main()"
    place = ("mcp", folder.id, "--runs", str(folder.path.parent.absolute()))
    return (sys.executable, "-P", "-c", source, *place)


def _place(folder: "RunFolder") -> "Place":
    from sandbox.agents.mcp_agent import Place

    return Place(folder.mcp_socket, folder.agent_output, folder.agent_log)


def _waiting(folder: "RunFolder") -> "Agent":
    from sandbox.agents.mcp_agent import McpAgent

    return McpAgent(None, _place(folder), lambda: mutter(configuration(folder)))


def configuration(folder: "RunFolder") -> str:
    """Say that a run waits for a client, and what most of these want in their configuration."""
    program, *arguments = _bridge(folder)
    server = {"mcpServers": {"sandbox": {"command": program, "args": arguments}}}
    told = json.dumps(server, indent=2)
    return f"\nthe run {folder.id} waits for an MCP client; give it this server:\n{told}\n"


def _human(choice: AgentChoice) -> Make:
    from sandbox.cli.human import HumanAgent

    if choice.protocol is not None:
        raise UsageError("human needs no protocol.", "Leave --protocol out.")
    return lambda _: HumanAgent(sys.stdin.buffer, sys.stderr)


def _llm(choice: AgentChoice) -> Make:
    from sandbox.agents.llm import LlmAgent
    from sandbox.agents.llm_endpoint import Model

    if choice.protocol is not None:
        raise UsageError("llm needs no protocol.", "Leave --protocol out.")
    if choice.model is None:
        raise UsageError("`--agent llm` needs a model.", "Name it: --model NAME.")
    model = Model.chosen(choice.model, choice.base_url, _price(choice.model, choice.prices))
    return lambda folder: LlmAgent(model, folder.agent_log)


def _price(model: str, prices: Path | None) -> "Price | None":
    from sandbox.model.documents import load
    from sandbox.model.usage import Prices

    if prices is None:
        return None
    found = load(prices, Prices).root
    if model not in found:
        raise UsageError(f"{prices} has no price for {model}.", f"It has {', '.join(found)}.")
    return found[model]
