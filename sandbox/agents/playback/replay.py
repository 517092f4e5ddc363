"""Lists of actions as scripts of a model."""

import json
import shlex
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import JsonValue

from sandbox.agents.playback.script import Call, Say, Script
from sandbox.model.task import ScriptedAction

DONE = Say(text="All is done.")


class Shell(NamedTuple):
    """A client's own shell tool, where it reaches actions by that."""

    tool: str
    argument: str
    """What takes the line: `sandbox ACTION JSON`."""
    commands_only: bool = False
    """Whether the line is a command's instead, and other actions have tools of their own."""


def replay(actions: Sequence[ScriptedAction], shell: Shell | None = None) -> Script:
    """Have the model call the tool of each action, then end its turn."""
    return (*(call(each.action, each.arguments, shell) for each in actions), DONE)


def call(action: str, arguments: dict[str, JsonValue], shell: Shell | None) -> Call:
    """Have the model call the tool of one action."""
    if shell is None or (shell.commands_only and action != "run_command"):
        return Call(action=action, arguments=arguments)
    line = shlex.join(("sandbox", action, json.dumps(arguments)))
    if shell.commands_only:
        line = str(arguments["command"])
    return Call(tool=shell.tool, arguments={shell.argument: line})
