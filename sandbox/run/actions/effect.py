"""What an action would change, for who is asked to permit it; nothing is carried out for this."""

import difflib

from sandbox.model.action import Action, ApplyPatch, WriteFile
from sandbox.model.observation import ErrorCode
from sandbox.run.actions.outcome import Refusal
from sandbox.run.actions.read_file import contents
from sandbox.run.actions.workspace import Workspace

LONGEST = 16_384
"""Characters of an effect that are kept."""

_COMPARED = 65_536
_LINES = 2_000


def effect(action: Action, workspace: Workspace) -> str:
    """Give the difference that an action would make to files; empty where it is not known."""
    match action:
        case ApplyPatch():
            return _cut(action.patch)
        case WriteFile(encoding="utf-8"):
            return _cut(_written(action, workspace))
    return ""


def _written(action: WriteFile, workspace: Workspace) -> str:
    try:
        old = contents(action.path, workspace).decode("utf-8", "backslashreplace")
    except Refusal as refused:
        if refused.code is not ErrorCode.NOT_FOUND:
            return ""
        old = ""
    texts = (old, action.content)
    if any(len(text) > _COMPARED or text.count("\n") > _LINES for text in texts):
        return f"{action.path}: {len(old)} characters become {len(action.content)}"
    before, after = (text.splitlines() for text in texts)
    rows = difflib.unified_diff(before, after, action.path, action.path, lineterm="")
    return "\n".join(rows) or f"{action.path}: its lines stay as they are"


def _cut(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}\n… {len(text) - LONGEST} more characters, which are not shown"
