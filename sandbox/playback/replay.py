"""Lists of actions as scripts of a model."""

import json
import shlex
from collections.abc import Sequence

from pydantic import JsonValue

from sandbox.model.task import ScriptedAction
from sandbox.playback.script import Call, Say, Script

DONE = Say(text="All is done.")


def replay(actions: Sequence[ScriptedAction], shell: tuple[str, str] | None = None) -> Script:
    """Have the model call the tool of each action, then end its turn.

    `shell` names a tool and its argument where a client reaches all actions by one shell tool, as
    `sandbox ACTION JSON`.
    """
    return (*(call(each.action, each.arguments, shell) for each in actions), DONE)


def call(action: str, arguments: dict[str, JsonValue], shell: tuple[str, str] | None) -> Call:
    """Have the model call the tool of one action."""
    if shell is None:
        return Call(action=action, arguments=arguments)
    tool, name = shell
    return Call(tool=tool, arguments={name: shlex.join(("sandbox", action, json.dumps(arguments)))})
