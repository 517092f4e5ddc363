"""Who acts, as the command line says."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli import completion
from sandbox.model.errors import UsageError

if TYPE_CHECKING:
    from sandbox.model.run import Mode


class Protocol(StrEnum):
    """What a command speaks with the harness."""

    JSONL = "jsonl"
    MCP = "mcp"
    ACP = "acp"


class HarnessMode(StrEnum):
    """What stands between agent and run."""

    RAW = "raw"
    MINIMAL = "minimal"


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """One agent, in one mode."""

    agent: str
    protocol: Protocol | None = None
    model: str | None = None
    base_url: str | None = None
    prices: Path | None = None
    mode: HarnessMode = HarnessMode.RAW
    name: str | None = None
    tag: tuple[str, ...] = ()

    @property
    def trial_mode(self) -> "Mode":
        """The mode as a trial has it."""
        return "minimal" if self.mode is HarnessMode.MINIMAL else "raw"


@dataclass(frozen=True, slots=True)
class AgentsChoice:
    """Agents as the command line names them."""

    agent: Annotated[
        list[str] | None,
        typer.Option(
            help="`oracle`, `null`, `llm`, `human`, a preset (`sandbox agents list`), a YAML list,"
            " a command, or `mcp`: who connects. May be repeated.",
            autocompletion=completion.agents,
        ),
    ] = None
    preset: Annotated[
        list[Path] | None,
        typer.Option(help="A client that a file of one's own describes; may be repeated."),
    ] = None
    protocol: Annotated[
        Protocol | None,
        typer.Option(help="What the command speaks; `jsonl` where nothing is said."),
    ] = None
    model: Annotated[str | None, typer.Option(help="With `llm` or a preset: the model's name.")] = (
        None
    )
    base_url: Annotated[
        str | None, typer.Option(help="With `llm` or a preset: where the model is.")
    ] = None
    prices: Annotated[
        Path | None, typer.Option(help="With `llm`: YAML, what models cost per million tokens.")
    ] = None
    mode: Annotated[
        list[HarnessMode] | None,
        typer.Option(
            help="`raw`, or `minimal`, which repairs spelling: names, types, plain-language"
            " requests. May be repeated."
        ),
    ] = None
    name: Annotated[
        str | None, typer.Option(help="What reports call it, in place of its command.")
    ] = None
    tag: Annotated[
        list[str] | None, typer.Option(help="KEY=VALUE, kept with the run; may be repeated.")
    ] = None

    def each(self) -> list[AgentChoice]:
        """Give each agent in each mode; the model's options are for those that take one."""
        from sandbox.agents.clients import preset_files

        files = [f"{preset_files.FILE}{path}" for path in self.preset or ()]
        agents = list(dict.fromkeys([*(self.agent or ()), *files]))
        if not agents:
            raise UsageError(
                "Nobody is named who is to act.", "Name it: --agent CMD, or --preset FILE."
            )
        if self.name is not None and len(agents) > 1:
            raise UsageError("--name names one agent.", "Run the others by commands of their own.")
        return [
            AgentChoice(
                agent=agent,
                protocol=self.protocol,
                model=self.model if takes else None,
                base_url=self.base_url if takes else None,
                prices=self.prices if len(agents) == 1 or agent == "llm" else None,
                mode=mode,
                name=self.name,
                tag=tuple(self.tag or ()),
            )
            for agent in agents
            for takes in (len(agents) == 1 or agent == "llm" or preset_files.named(agent),)
            for mode in dict.fromkeys(self.mode or [HarnessMode.RAW])
        ]
