"""Where actions happen: a worktree in a session, and the rules for paths and commands in it."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sandbox.container.engines.base import Session
from sandbox.container.mirror import client_environment
from sandbox.container.servers import Servers
from sandbox.model import path_text as paths
from sandbox.model.agent_environment import ENVIRONMENT, environment_of
from sandbox.model.artifact import Artifact
from sandbox.model.connection import Serve
from sandbox.model.event import ModelRequested
from sandbox.model.observation import ErrorCode
from sandbox.model.session import AGENT, Command, Completed, FileEntry, FileKind, Interception
from sandbox.model.task import Task
from sandbox.model.user import Understanding
from sandbox.run.actions.outcome import Refusal, refusal
from sandbox.run.actions.running_commands import Running

if TYPE_CHECKING:
    from sandbox.container.forwarder import Forwarder

FILE_LIMIT = 16 << 20
"""Bytes of a file that is read whole."""

_LINKS = 40
_SHORTEST = 0.001


@dataclass(frozen=True, slots=True)
class Workspace:
    """A task's worktree in a live session."""

    session: Session
    task: Task
    root: str
    """The worktree, absolute in the container."""
    deadline: float = math.inf
    """When the run is over, by the monotonic clock; no command outlives it."""
    begun_ns: int = 0
    """When the run began, by the clock of both host and container."""
    interception: Interception = "log"
    """Whether the programs that its commands start are seen."""
    tag: str = ""
    """Comes back with each of them."""
    packages: Mapping[Artifact, Path] = field(default_factory=dict)
    """Where the files of the world's registry lie on the host."""
    users_work: Mapping[str, str | None] = field(default_factory=dict)
    """The files that the user and the agent share, as they stood when the run began."""
    running: Running | None = None
    """Where another thread may end a command; None where nobody wants to."""
    servers: Servers = field(default_factory=Servers)
    """The world's tool servers, as far as they have been started."""
    model: "Forwarder | None" = None
    """The way to its model, of an agent that runs in the container."""
    note: Callable[[ModelRequested, str], None] = lambda _event, _action: None
    """Records what an action with this id asks of the model, from any thread."""
    understand: Understanding | None = None
    """Picks among the answers of the task's user; None where their words alone do."""
    side_actions: Serve | None = None
    """Answers an agent in the container that asks for actions."""

    def locate(self, path: str) -> bytes:
        """Return a path relative to the worktree as bytes, without `.` and doubled slashes.

        Refusal where it is absolute, has a `..` or is no path; links are not looked at.
        """
        if "\0" in path or not path:
            raise Refusal(ErrorCode.BAD_ARGUMENTS, f"{path!r} is not a valid path.")
        if path.startswith("/"):
            raise Refusal(
                ErrorCode.FORBIDDEN_PATH,
                f"{path} is absolute; paths are relative to the worktree, {self.root}.",
            )
        names = [name for name in paths.raw(path).split(b"/") if name not in (b"", b".")]
        if b".." in names:
            raise Refusal(
                ErrorCode.FORBIDDEN_PATH, f"{path} has a `..`; paths stay inside of the worktree."
            )
        return b"/".join(names) or b"."

    def resolve(self, path: str) -> bytes:
        """Do as `locate`, with symbolic links followed; what does not exist yet stays as it is.

        Refusal where a link leads out of the worktree.
        """
        names = self.locate(path).split(b"/")
        resolved: list[bytes] = []
        followed = 0
        while names:
            name = names.pop(0)
            if name in (b"", b"."):
                continue
            if name == b"..":
                if not resolved:
                    raise self._leads_out(path)
                resolved.pop()
                continue
            entry = self._look(b"/".join([*resolved, name]))
            if entry is None or entry.kind is not FileKind.SYMLINK:
                resolved.append(name)
                continue
            followed += 1
            if entry.target.startswith(b"/") or followed > _LINKS:
                raise self._leads_out(path)
            names = entry.target.split(b"/") + names
        return b"/".join(resolved) or b"."

    def entry(self, resolved: bytes, shown: str) -> FileEntry:
        """Return what lies at a resolved path; Refusal where that is impossible."""
        try:
            return self.session.stat(resolved, beneath=self.root, follow=True)
        except OSError as error:
            raise refusal(error, shown) from error

    def absolute(self, resolved: bytes) -> bytes:
        """Return the path in the container that a resolved path names."""
        root = paths.raw(self.root)
        return root if resolved == b"." else root + b"/" + resolved

    @property
    def variables(self) -> dict[str, str]:
        """What the agent's commands find in their environment."""
        foreign = self.task.world.container
        return ENVIRONMENT if foreign is None else environment_of(foreign.variables)

    def run(
        self,
        argv: tuple[str | bytes, ...],
        *,
        cwd: bytes = b".",
        stdin: bytes = b"",
        seconds: float | None = None,
        limit: int | None = None,
        environment: dict[str, str] | None = None,
        alone: bool = False,
    ) -> Completed:
        """Run a program as the agent; its output is cut at `limit` or the task's own limit.

        It has `seconds` or the task's time for a command, and at most what is left of the run.
        With `alone`, what outlives it is killed.
        """
        kept = self.task.limits.observation_bytes if limit is None else limit
        own = self.task.limits.command_seconds if seconds is None else seconds
        left = self.deadline - time.monotonic()
        registry = self.task.world.registry
        command = Command(
            argv=argv,
            cwd=self.absolute(cwd),
            environment={
                **self.variables,
                **(client_environment.environment(registry) if registry else {}),
                **(environment or {}),
            },
            user=AGENT,
            stdin=stdin,
            timeout=max(_SHORTEST, min(own, left)),
            stdout_limit=kept,
            stderr_limit=kept,
            # Else one that an earlier command has left could wait for the grant of a later one.
            kill_survivors=alone or registry is not None,
            interception=self.interception,
            tag=self.tag,
        )
        try:
            completed = self._run_in_room(command)
        except OSError as error:
            raise refusal(error, paths.text(_name(argv))) from error
        if command.kill_survivors:
            completed = replace(completed, survivors=0, ended=completed.survivors)
        if completed.exit_code is None and completed.signal is None and not completed.timed_out:
            raise Refusal(
                ErrorCode.NO_PROCESSES, f"{paths.text(_name(argv))} could not be started."
            )
        return completed

    def _run_in_room(self, command: Command) -> Completed:
        """Run a command; where none can start any more, end what earlier ones have left first.

        Nobody could end it otherwise: `kill` is a process, too.
        """
        try:
            return self._execute(command)
        except BlockingIOError:
            cleared = self.session.kill_all()
            return replace(self._execute(command), cleared=cleared)

    def _execute(self, command: Command) -> Completed:
        if self.running is None:
            return self.session.run(command)
        return self.running.run(self.session, command)

    def _look(self, path: bytes) -> FileEntry | None:
        try:
            return self.session.stat(path, beneath=self.root)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise refusal(error, paths.text(path)) from error

    def _leads_out(self, path: str) -> Refusal:
        return Refusal(
            ErrorCode.FORBIDDEN_PATH, f"{path} leads out of the worktree by a symbolic link."
        )


def _name(argv: tuple[str | bytes, ...]) -> bytes:
    program = argv[0]
    return program if isinstance(program, bytes) else program.encode()
