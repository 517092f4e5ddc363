"""Every action that happens in a session, by name; the others belong to the run loop."""

from collections.abc import Callable
from typing import Any

from sandbox.model.action import Action
from sandbox.model.observation import ErrorCode
from sandbox.rules.policy.subject import Subject
from sandbox.run.actions import (
    apply_patch,
    call_tool,
    discover_tools,
    git_diff,
    list_files,
    read_file,
    run_agent,
    run_command,
    run_tests,
    search_repo,
    write_file,
)
from sandbox.run.actions.outcome import Performed, Refusal, refused
from sandbox.run.actions.prepared import Prepared
from sandbox.run.actions.workspace import Workspace

PREPARERS: dict[str, Callable[[Any, Workspace], Prepared]] = {
    "read_file": read_file.prepare,
    "list_files": list_files.prepare,
    "search_repo": search_repo.prepare,
    "run_command": run_command.prepare,
    "apply_patch": apply_patch.prepare,
    "write_file": write_file.prepare,
    "run_tests": run_tests.prepare,
    "git_diff": git_diff.prepare,
    "discover_tools": discover_tools.prepare,
    "call_tool": call_tool.prepare,
    "run_agent": run_agent.prepare,
}


def prepare(action: Action, workspace: Workspace) -> Prepared:
    """Understand an action; nothing is changed. Those of the run loop are about no files."""
    if action.name in PREPARERS:
        return PREPARERS[action.name](action, workspace)
    return Prepared(Subject(action.name), _belongs_to_the_loop)


def perform(prepared: Prepared, workspace: Workspace) -> Performed:
    """Carry an action out, or say why not; only a lost session is an error."""
    try:
        return prepared.perform(workspace)
    except Refusal as refusal:
        return Performed(refused(refusal.code, refusal.message))


def _belongs_to_the_loop(_: Workspace) -> Performed:
    raise Refusal(ErrorCode.UNKNOWN_TOOL, "The run answers this action itself.")
