"""The actions as methods with their arguments, for worlds that are waited for and for awaited ones.

What each does, and what its reply's `result` holds, is said in docs/agent-protocol.md.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Generic, Literal, TypeVar

from pydantic import JsonValue

from sandbox.model.usage import ModelUsage

Told = TypeVar("Told")
"""What an action gives: a reply, or the promise of one."""


class TypedActions(ABC, Generic[Told]):
    """Calls `step` with what it is given; what is None is left out."""

    @abstractmethod
    def step(
        self,
        action: str,
        arguments: Mapping[str, JsonValue] | None = None,
        /,
        usage: ModelUsage | None = None,
        **named: JsonValue,
    ) -> Told:
        """Perform an action."""

    def read_file(self, path: str, *, first_line: int = 1, line_limit: int | None = None) -> Told:
        """Read a file of the worktree, whole or some of its lines."""
        return self._do("read_file", path=path, first_line=first_line, line_limit=line_limit)

    def list_files(
        self, path: str = ".", *, recursive: bool = False, glob: str | None = None
    ) -> Told:
        """List a folder of the worktree."""
        return self._do("list_files", path=path, recursive=recursive, glob=glob)

    def search_repo(
        self,
        pattern: str,
        path: str = ".",
        *,
        glob: str | None = None,
        fixed: bool = False,
        ignore_case: bool = False,
    ) -> Told:
        """Search the worktree's text files for a regular expression."""
        how: dict[str, JsonValue] = {"glob": glob, "fixed": fixed, "ignore_case": ignore_case}
        return self._do("search_repo", pattern=pattern, path=path, **how)

    def run_command(
        self,
        command: str,
        *,
        cwd: str = ".",
        stdin: str = "",
        timeout_seconds: float | None = None,
    ) -> Told:
        """Run a shell line in the container."""
        how: dict[str, JsonValue] = {"stdin": stdin, "timeout_seconds": timeout_seconds}
        return self._do("run_command", command=command, cwd=cwd, **how)

    def apply_patch(self, patch: str) -> Told:
        """Apply a unified diff to the worktree, all of it or nothing."""
        return self._do("apply_patch", patch=patch)

    def write_file(
        self,
        path: str,
        content: str,
        *,
        encoding: Literal["utf-8", "base64"] = "utf-8",
        executable: bool | None = None,
    ) -> Told:
        """Write a whole file of the worktree; missing folders are made."""
        how: dict[str, JsonValue] = {"encoding": encoding, "executable": executable}
        return self._do("write_file", path=path, content=content, **how)

    def run_tests(
        self, command: str | None = None, *, timeout_seconds: float | None = None
    ) -> Told:
        """Run the task's tests, or the command that is given, and count what it tells."""
        return self._do("run_tests", command=command, timeout_seconds=timeout_seconds)

    def git_diff(self, path: str | None = None) -> Told:
        """Show what differs from HEAD, and who owns each path."""
        return self._do("git_diff", path=path)

    def discover_tools(self, server: str | None = None) -> Told:
        """Ask the world's tool servers what they offer."""
        return self._do("discover_tools", server=server)

    def call_tool(
        self, server: str, tool: str, arguments: Mapping[str, JsonValue] | None = None
    ) -> Told:
        """Call a tool of one of the world's servers."""
        return self._do("call_tool", server=server, tool=tool, arguments={**(arguments or {})})

    def ask_user(self, question: str) -> Told:
        """Ask the user who gave the task, where it has one."""
        return self._do("ask_user", question=question)

    def request_approval(self, scope: str, command: str, reason: str = "") -> Told:
        """Ask whether something may be done, before it is done."""
        return self._do("request_approval", scope=scope, command=command, reason=reason)

    def _do(self, action: str, /, **arguments: JsonValue) -> Told:
        return self.step(
            action, {name: each for name, each in arguments.items() if each is not None}
        )
