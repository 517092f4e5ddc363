r"""What an agent may ask for. The fields of a class are the arguments of its action.

Paths are relative to the worktree, with `/` between names. A byte that is not valid UTF-8 is
written `\xNN` and a backslash `\\`, here and wherever a path is text (see `path_text.py`).
"""

from typing import ClassVar, Literal

from pydantic import ConfigDict, Field, JsonValue

from sandbox.model.base import Record
from sandbox.model.usage import ModelUsage


class Action(Record):
    """The base of all actions."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    name: ClassVar[str]
    """How agents, policies and rules call it."""
    reads_only: ClassVar[bool] = False
    """Whether it leaves everything as it is."""
    edits: ClassVar[bool] = False
    """Whether it writes files by itself, not by a program."""
    shell: ClassVar[bool] = False
    """Whether it runs a shell line that the agent gives."""
    by_harness: ClassVar[bool] = False
    """Whether the program that it starts is the harness's choice, not the agent's."""


class ReadFile(Action):
    """Read a file of the worktree, whole or some of its lines."""

    name = "read_file"
    reads_only = True

    path: str
    """The file."""
    first_line: int = Field(default=1, ge=1)
    """Where to start, counted from 1."""
    line_limit: int | None = Field(default=None, ge=1)
    """How many lines at most; all that fit the output limit where it is left out."""


class ListFiles(Action):
    """List a folder of the worktree."""

    name = "list_files"
    reads_only = True

    path: str = "."
    """The folder."""
    recursive: bool = False
    """Whether to go into subfolders; `.git` is never entered."""
    glob: str | None = None
    """Keep only paths that match, e.g. `src/**/*.py`."""


class SearchRepository(Action):
    """Search the worktree's text files for a regular expression."""

    name = "search_repo"
    reads_only = True
    by_harness = True

    pattern: str = Field(min_length=1)
    """A POSIX extended regular expression, or plain text with `fixed`."""
    path: str = "."
    """The file or folder to search in."""
    glob: str | None = None
    """Keep only files whose name matches, e.g. `*.py`."""
    fixed: bool = False
    """Whether the pattern is plain text."""
    ignore_case: bool = False
    """Whether case is ignored."""


class RunCommand(Action):
    """Run a shell line in the container."""

    name = "run_command"
    shell = True

    command: str = Field(min_length=1)
    """The line, run by `bash -c`."""
    cwd: str = "."
    """The folder to run it in, relative to the worktree."""
    stdin: str = ""
    """What it can read from standard input."""
    timeout_seconds: float | None = Field(default=None, gt=0)
    """After this its whole process tree is killed; the task's own limit where it is left out."""


class ApplyPatch(Action):
    """Apply a unified diff to the worktree, all of it or nothing."""

    name = "apply_patch"
    edits = True

    patch: str = Field(min_length=1)
    """The diff; paths with or without the `a/` and `b/` that git writes."""


class WriteFile(Action):
    """Write a whole file of the worktree; missing folders are made."""

    name = "write_file"
    edits = True

    path: str
    """The file."""
    content: str
    """What it holds afterwards, in the given encoding."""
    encoding: Literal["utf-8", "base64"] = "utf-8"
    """How `content` stands for bytes."""
    executable: bool | None = None
    """Set or clear the executable bit; an old file keeps its own where it is left out."""


class RunTests(Action):
    """Run the task's tests, or the command that is given, and count the outcomes that it tells.

    What a test runner caches (`__pycache__`, say) may stay where it is, but belongs in no commit.
    Where tests have to be run, they are run in this checkout: runs in copies of it and in further
    worktrees count for nothing.
    """

    name = "run_tests"
    shell = True

    command: str | None = Field(default=None, min_length=1)
    """A shell line in place of the task's own test command."""
    timeout_seconds: float | None = Field(default=None, gt=0)
    """As for `run_command`."""


class GitDiff(Action):
    """Show what differs from HEAD, and who owns each path."""

    name = "git_diff"
    reads_only = True
    by_harness = True

    path: str | None = None
    """Only this file or folder."""


class DiscoverTools(Action):
    """Ask the world's tool servers what they offer; each is started by it."""

    name = "discover_tools"

    server: str | None = None
    """Only this one."""


class CallTool(Action):
    """Call a tool of one of the world's servers."""

    name = "call_tool"

    server: str
    """The server, as `discover_tools` calls it."""
    tool: str
    """The tool's name."""
    arguments: dict[str, JsonValue] = {}
    """What the tool's own schema asks for."""


class AskUser(Action):
    """Ask the user who gave the task; what they say unasked is in `said` of replies, in order."""

    name = "ask_user"

    question: str = Field(min_length=1, max_length=4_000)
    """One question, in plain words."""


class RequestApproval(Action):
    """Ask whether something may be done, before it is done."""

    name = "request_approval"

    scope: str = Field(min_length=1)
    """What kind of permission, e.g. `network`."""
    command: str = Field(min_length=1)
    """The shell line that would be run with it; of a tool `call_tool SERVER/TOOL`, no more."""
    reason: str = ""
    """Why it is needed."""


class FinalAnswer(Action):
    """End the run with the fields that the prompt asks for."""

    name = "final_answer"

    fields: dict[str, JsonValue]
    """The answer, field by field."""
    note: str = Field(default="", max_length=20_000)
    """What a person may want to know besides; nothing is judged by it."""


class RunAgent(Action):
    """Let an agent act inside of the container; none can ask for it, the run begins with it."""

    name = "run_agent"
    by_harness = True

    command: str
    """Its command line, split as a shell would; `{prompt}` in a word stands for the prompt."""
    prompt: str
    """What it is told."""


ACTIONS: dict[str, type[Action]] = {
    kind.name: kind
    for kind in (
        ReadFile,
        ListFiles,
        SearchRepository,
        RunCommand,
        ApplyPatch,
        WriteFile,
        RunTests,
        GitDiff,
        DiscoverTools,
        CallTool,
        AskUser,
        RequestApproval,
        FinalAnswer,
    )
}
"""Every action that can be asked for, by its name."""

EDITS = tuple(name for name, kind in ACTIONS.items() if kind.edits)
SHELL = tuple(name for name, kind in ACTIONS.items() if kind.shell)


SERVER_ACTIONS = (DiscoverTools.name, CallTool.name)
"""Those that are offered only where the task's world has servers."""


class Request(Record):
    """One action as an agent sends it; the id joins it to its observation."""

    id: str = Field(min_length=1, max_length=200)
    action: str
    arguments: dict[str, JsonValue] = {}
    usage: ModelUsage | None = None
    """What the agent's model has used since its last request, where it tells."""
