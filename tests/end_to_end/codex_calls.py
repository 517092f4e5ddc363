"""A list of actions as Codex's own tools would do them: by its shell, its patches, and the rest."""

import shlex
from collections.abc import Iterable, Iterator, Sequence

from sandbox.agents.playback.replay import DONE
from sandbox.agents.playback.script import Call, Script
from sandbox.model.task import ScriptedAction


def replayed(actions: Sequence[ScriptedAction]) -> Script:
    """Have the model do each action by the tool that Codex has for it, then end its turn."""
    return (*(_call(each) for each in actions), DONE)


def _call(each: ScriptedAction) -> Call:
    given = each.arguments
    match each.action:
        case "run_command":
            return shell(str(given["command"]))
        case "read_file":
            return shell(shlex.join(["cat", str(given["path"])]))
        case "list_files":
            return shell("git ls-files '*AGENTS.md'")
        case "git_diff":
            return shell("git status --short && git diff")
        case "apply_patch":
            return patch(_update(str(given["patch"])))
        case "write_file":
            lines = str(given["content"]).splitlines()
            return patch([f"*** Add File: {given['path']}", *(f"+{line}" for line in lines)])
    return Call(action=each.action, arguments=given)


def shell(line: str) -> Call:
    """Run a line by its shell."""
    return Call(tool="exec_command", arguments={"cmd": line})


def patch(lines: Iterable[str]) -> Call:
    """Change files by its patches."""
    return Call(
        tool="apply_patch", text="\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])
    )


def _update(diff: str) -> Iterator[str]:
    """Put a unified diff of one file into the form that Codex knows."""
    for line in diff.splitlines():
        if line.startswith("+++ b/"):
            yield f"*** Update File: {line[len('+++ b/') :]}"
        elif line.startswith("@@"):
            yield "@@"
        elif not line.startswith("--- a/"):
            yield line
