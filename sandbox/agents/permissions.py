"""What a client's question for permission is about, and which of its options is the answer.

The question is asked by the client, in its words, and it may not wait for the answer: so the answer
protects nothing by itself. The harness's tools decide again when they are called. What is not one
of them would happen on this host, and is refused.
"""

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sandbox.agents.mcp_server import NAME


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What is known of a call; clients differ in what they say."""

    id: str
    title: str
    arguments: Any
    meta: dict[str, Any]
    """What the client adds of its own."""


def of_harness(call: ToolCall, actions: Collection[str]) -> bool:
    """Whether a call is surely of one of the harness's tools.

    The whole title must be the tool's name, as clients spell it: the title of another tool may be
    the command line that it is asked to run, in which anything may stand.
    """
    named = {f"mcp__{NAME}__{action}" for action in actions}
    names = "|".join(sorted(map(re.escape, actions)))
    spelt = (
        rf"(?:Tool: )?(?:mcp(?:__|_))?{NAME}(?:__|_|/|\.|: ?)(?:{names})",
        rf"(?:{names}) \({NAME}(?: MCP Server)?\)(?:: .*)?",
    )
    if any(re.fullmatch(each, call.title.strip(), re.DOTALL) for each in spelt):
        return True
    # Of the client's making, where the title says what the tool is asked to do.
    if re.fullmatch(rf"mcp__?{NAME}__?(?:{names})[-_][\w-]+", call.id):
        return True
    told = call.meta.get("claudeCode")
    if isinstance(told, dict) and str(told.get("toolName")) in named:
        return True
    given = call.arguments
    return (
        isinstance(given, dict)
        and given.keys() <= {"server", "tool", "arguments"}
        and given.get("server") == NAME
        and given.get("tool") in actions
    )


def wanted_kinds(permitted: bool) -> tuple[str, ...]:  # noqa: FBT001 - the answer
    """Return the kinds of options that say so, the narrowest first."""
    return ("allow_once", "allow_always") if permitted else ("reject_once", "reject_always")


def described(call: ToolCall) -> str:
    """One line on a call."""
    arguments = "" if call.arguments is None else f" {json.dumps(call.arguments, default=str)}"
    return f"{call.title or 'a tool without a title'}{arguments}"[:500]
