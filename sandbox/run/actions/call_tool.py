"""`call_tool`: one tool of one of the world's servers."""

import json
from functools import partial

from sandbox.container.servers import ToolAnswer, UnavailableError
from sandbox.container.servers.mcp_client import RefusedError
from sandbox.model.action import CallTool
from sandbox.model.observation import ErrorCode, ToolResult
from sandbox.rules.policy.subject import Subject
from sandbox.run.actions.discover_tools import named
from sandbox.run.actions.outcome import Performed, Refusal, done
from sandbox.run.actions.prepared import Prepared
from sandbox.run.actions.workspace import Workspace


def prepare(action: CallTool, _: Workspace) -> Prepared:
    """Nothing is to be looked up."""
    subject = Subject(action.name, tool=f"{action.server}/{action.tool}")
    return Prepared(subject, partial(_call, action))


def _call(action: CallTool, workspace: Workspace) -> Performed:
    """Call it; what the tool itself reports as an error is a result."""
    server = named(action.server, workspace)
    limits = workspace.task.limits
    try:
        answer = workspace.servers.call(
            workspace.session, server, action.tool, action.arguments, limits.command_seconds
        )
    except UnavailableError as error:
        message = f"The server {server.name} cannot be used: {error}."
        raise Refusal(ErrorCode.SERVER_UNAVAILABLE, message) from error
    except RefusedError as error:
        message = f"{server.name} refused the call: {str(error)[:1000]}"
        raise Refusal(ErrorCode.TOOL_REFUSED, message) from error
    return done(_result(answer, limits.observation_bytes))


def _result(answer: ToolAnswer, limit: int) -> ToolResult:
    """Cut an answer to so many bytes; its structured form is whole or absent."""
    text = answer.text.encode()
    kept = answer.structured
    if kept is not None and len(json.dumps(kept)) > limit:
        kept = None
    return ToolResult(
        is_error=answer.is_error,
        text=text[:limit].decode("utf-8", "ignore"),
        structured=kept,
        truncated=len(text) > limit or kept is not answer.structured,
    )
