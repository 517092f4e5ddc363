"""What an agent gets back. `result` has the fields of the action's class below.

A failing test or command is a result, not an error: `status` is `error` only where the action
itself was not carried out as asked.
"""

from enum import StrEnum
from typing import Literal

from pydantic import JsonValue

from sandbox.model.base import Record


class ErrorCode(StrEnum):
    """Why an action was not carried out. Codes are stable: agents may depend on them."""

    APPROVAL_REQUIRED = "approval_required"
    APPROVAL_DENIED = "approval_denied"
    POLICY_DENIED = "policy_denied"
    BAD_ARGUMENTS = "bad_arguments"
    BAD_REQUEST = "bad_request"
    UNKNOWN_TOOL = "unknown_tool"
    NOT_FOUND = "not_found"
    NOT_A_FILE = "not_a_file"
    NOT_A_FOLDER = "not_a_folder"
    PERMISSION_DENIED = "permission_denied"
    FORBIDDEN_PATH = "forbidden_path"
    PATCH_REJECTED = "patch_rejected"
    TOO_LARGE = "too_large"
    DISK_FULL = "disk_full"
    NO_PROCESSES = "no_processes"
    SERVER_UNAVAILABLE = "server_unavailable"
    TOOL_REFUSED = "tool_refused"
    TIMEOUT = "timeout"
    BUDGET_EXHAUSTED = "budget_exhausted"
    CANCELLED = "cancelled"
    RUN_OVER = "run_over"


class Observation(Record):
    """The answer to one action."""

    status: Literal["ok", "error"] = "ok"
    error_code: ErrorCode | None = None
    message: str | None = None
    """What went wrong and what to do instead."""
    result: dict[str, JsonValue] = {}
    """Empty where the action was refused; a command that ran out of time keeps its output."""


class FileContent(Record):
    """Of `read_file`."""

    path: str
    content: str
    encoding: Literal["utf-8", "base64"]
    """base64 where the file is not text."""
    size: int
    """Bytes of the whole file."""
    lines: int | None
    """Lines of the whole file, None where it is not text."""
    truncated: bool
    """Whether lines or bytes were left out."""


class ListedFile(Record):
    """One line of `list_files`."""

    path: str
    kind: str
    size: int


class FileList(Record):
    """Of `list_files`."""

    entries: tuple[ListedFile, ...]
    truncated: bool


class Match(Record):
    """One line that `search_repo` found."""

    path: str
    line: int
    text: str


class Matches(Record):
    """Of `search_repo`."""

    matches: tuple[Match, ...]
    truncated: bool


class CommandResult(Record):
    """Of `run_command`."""

    exit_code: int | None
    """None where a signal ended it."""
    signal: int | None
    stdout: str
    """UTF-8; what is not is replaced by U+FFFD."""
    stderr: str
    stdout_truncated: bool
    stderr_truncated: bool
    duration_seconds: float
    timed_out: bool
    out_of_memory: bool
    left_running: int
    """Background processes that it started and that are still alive."""
    cleared: int = 0
    """Background processes of earlier commands that were killed first, because the container's
    limit left no room for another process."""
    ended: int = 0
    """Background processes that it started and that were killed with it, as they are where the
    network can be granted."""


class AgentResult(CommandResult):
    """Of `run_agent`."""

    answer: str | None
    """What it wrote as its final answer; None where that is nothing, or more than is read."""


class TestsResult(CommandResult):
    """Of `run_tests`; its output is without colours."""

    __test__ = False

    command: str
    passed: int | None
    """None, like the other counts, where the output does not tell."""
    failed: int | None
    errors: int | None
    skipped: int | None
    failing: tuple[str, ...] = ()
    """The first 50 tests that failed or ended in an error, as the runner calls them."""
    failing_truncated: bool = False
    """Whether there were more."""
    problem: str = ""
    """Why there are no counts, where they were expected or the run has failed."""


class PatchedFile(Record):
    """One file that a patch changed."""

    path: str
    change: Literal["added", "modified", "deleted", "renamed"]
    renamed_from: str | None = None
    added_lines: int
    removed_lines: int


class PatchResult(Record):
    """Of `apply_patch`."""

    files: tuple[PatchedFile, ...]


class WriteResult(Record):
    """Of `write_file`."""

    path: str
    size: int
    created: bool


class DiffedLines(Record):
    """Lines of one path of `git_diff` that differ from HEAD in one place."""

    first: int
    """In the file as it stands, from 1; where lines were only taken out, the one before them."""
    last: int
    owner: Literal["yours", "user"]


class DiffedPath(Record):
    """One path of `git_diff`."""

    path: str
    status: str
    """The two letters of `git status --porcelain`: index, then worktree; `!!` is ignored."""
    owner: str
    """`yours` where the task expects changes, `untouched` where it does and the file, which git
    does not know, is as the run found it, `user` where somebody else's work lies, ..."""
    lines: tuple[DiffedLines, ...] = ()
    """Whose each difference is, in a file that holds work of the user's and of the agent's."""
    files: int | None = None
    """Of a folder, whose path ends with a slash: how many of its files are not told by name."""


class DiffResult(Record):
    """Of `git_diff`."""

    paths: tuple[DiffedPath, ...]
    diff: str
    """Against HEAD, staged and unstaged together; then the text of new files."""
    truncated: bool


class FoundTool(Record):
    """One tool of `discover_tools`."""

    name: str
    description: str
    arguments: dict[str, JsonValue]
    """JSON Schema of the tool's arguments."""


class FoundServer(Record):
    """One server of `discover_tools`."""

    name: str
    about: str
    available: bool
    problem: str = ""
    """Why it cannot be used."""
    tools: tuple[FoundTool, ...] = ()


class FoundServers(Record):
    """Of `discover_tools`."""

    servers: tuple[FoundServer, ...]


class ToolResult(Record):
    """Of `call_tool`."""

    is_error: bool
    """Whether the tool says that it failed."""
    text: str
    structured: dict[str, JsonValue] | None
    """Where the tool gives such, and it fits the output limit."""
    truncated: bool
    """Whether text was cut, or the structured form left out."""


class UserAnswered(Record):
    """Of `ask_user`."""

    answer: str


class ApprovalResult(Record):
    """Of `request_approval`."""

    approved: bool
    reason: str
    fallback_command: str | None
    """What may be done instead, where the approver names it."""


class FinalResult(Record):
    """Of `final_answer`."""

    accepted: bool = True
