"""Every action that happens in a session, by name; the others belong to the run loop."""

from collections.abc import Callable
from typing import Any

from sandbox.model import path_text as paths
from sandbox.model.action import Action, ApplyPatch, CallTool, RunCommand, RunTests
from sandbox.rules.policy.subject import Subject
from sandbox.run.actions.apply_patch import apply_patch, names
from sandbox.run.actions.call_tool import call_tool
from sandbox.run.actions.discover_tools import discover_tools
from sandbox.run.actions.git_diff import git_diff
from sandbox.run.actions.list_files import list_files
from sandbox.run.actions.outcome import Performed, Refusal, refused
from sandbox.run.actions.read_file import read_file
from sandbox.run.actions.run_agent import run_agent
from sandbox.run.actions.run_command import run_command
from sandbox.run.actions.run_tests import run_tests
from sandbox.run.actions.search_repo import search_repo
from sandbox.run.actions.workspace import Workspace
from sandbox.run.actions.write_file import write_file

PERFORMERS: dict[str, Callable[[Any, Workspace], Performed]] = {
    "read_file": read_file,
    "list_files": list_files,
    "search_repo": search_repo,
    "run_command": run_command,
    "apply_patch": apply_patch,
    "write_file": write_file,
    "run_tests": run_tests,
    "git_diff": git_diff,
    "discover_tools": discover_tools,
    "call_tool": call_tool,
    "run_agent": run_agent,
}


def perform(action: Action, workspace: Workspace) -> Performed:
    """Carry an action out, or say why not; only a lost session is an error."""
    try:
        return PERFORMERS[action.name](action, workspace)
    except Refusal as refusal:
        return Performed(refused(refusal.code, refusal.message))


def subject(action: Action, workspace: Workspace) -> Subject:
    """Return what policy rules look at; the paths are those that links lead to."""
    if isinstance(action, RunCommand):
        return Subject(action.name, command=action.command, cwd=action.cwd)
    if isinstance(action, RunTests):
        return Subject(action.name, command=action.command or workspace.task.tests.command)
    if isinstance(action, CallTool):
        return Subject(action.name, tool=f"{action.server}/{action.tool}")
    if isinstance(action, ApplyPatch):
        named = names(action.patch)
    else:
        path = getattr(action, "path", None)
        named = () if path is None else (path,)
    return Subject(action.name, paths=tuple(_resolved(path, workspace) for path in named))


def _resolved(path: str, workspace: Workspace) -> str:
    """Return the path as it is where it cannot be resolved: the action will be refused."""
    try:
        return paths.text(workspace.resolve(path))
    except Refusal:
        return path
