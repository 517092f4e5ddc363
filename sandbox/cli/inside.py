"""What `--inside` and the options beside it mean."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.model.errors import UsageError

if TYPE_CHECKING:
    from sandbox.agents.inside import InsideAgent
    from sandbox.run.trial import Inside

_OTHERS = 0o005
"""Bits of a folder's mode by which everybody may look into it."""
_NONE = ("oracle", "null", "llm", "human", "mcp")


@dataclass(frozen=True, slots=True)
class InsideChoice:
    """An agent in the container, as the command line describes it."""

    inside: Annotated[
        bool, typer.Option("--inside", help="The agent's command runs in the container.")
    ] = False
    inside_files: Annotated[
        Path | None,
        typer.Option(help="With --inside: a folder that it finds at /.sandbox/agent, read-only."),
    ] = None
    model_url: Annotated[
        str | None, typer.Option(help="With --inside: the one address that it reaches, its model.")
    ] = None
    model_key_variable: Annotated[
        str | None,
        typer.Option(help="With --model-url: the variable that holds the key, which stays here."),
    ] = None

    def check(self) -> None:
        """UsageError where the other options stand alone."""
        if not self.inside and (self.inside_files or self.model_url or self.model_key_variable):
            raise UsageError(
                "--inside-files, --model-url and --model-key-variable go with --inside.",
                "An agent on this host reaches its files and its model by itself.",
            )


def make(text: str) -> "InsideAgent":
    """Make the agent of a command line."""
    from sandbox.agents.inside import InsideAgent

    if text in _NONE or text.endswith((".yaml", ".yml")) or not text.strip():
        raise UsageError(
            f"{text!r} is not a command that can run in the container.",
            "--inside takes a command line.",
        )
    return InsideAgent(text)


def equip(choice: InsideChoice) -> "Inside":
    """Look at the files and the model; UsageError where they cannot be used."""
    from sandbox.container.forwarder import Upstream
    from sandbox.run.trial import Inside

    if choice.inside_files is not None:
        _look(choice.inside_files)
    if choice.model_url is None:
        if choice.model_key_variable:
            raise UsageError("--model-key-variable goes with --model-url.")
        return Inside(choice.inside_files)
    return Inside(
        choice.inside_files, Upstream.chosen(choice.model_url, _key(choice.model_key_variable))
    )


def _look(folder: Path) -> None:
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder.", "--inside-files takes the agent's folder.")
    if folder.stat().st_mode & _OTHERS != _OTHERS:
        raise UsageError(
            f"{folder} cannot be read by everybody, so not by the container's user either.",
            f"chmod -R o+rX {folder}",
        )


def _key(variable: str | None) -> str:
    if variable is None:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UsageError(
            f"There is no key: the variable {variable} is not set.",
            "Set it, or leave --model-key-variable out for a server that asks for none.",
        )
    return key
