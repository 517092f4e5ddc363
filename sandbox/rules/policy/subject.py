"""What rules look at: an action, or a process that is about to run a program."""

from dataclasses import dataclass

from sandbox.model.shell.reader import Started


@dataclass(frozen=True, slots=True)
class Subject:
    """What rules look at in an action."""

    action: str
    """Its name."""
    command: str | None = None
    """The shell line that it runs; None where it runs none."""
    paths: tuple[str, ...] = ()
    """The files that it names, relative to the worktree."""
    cwd: str = "."
    """Where it runs, relative to the worktree."""

    tool: str | None = None
    """`server/tool`, of `call_tool`."""

    @property
    def line(self) -> str:
        """What a grant is for: the shell line, else the action with its paths or its tool."""
        if self.command is not None:
            return self.command
        return " ".join((self.action, *self.paths, *((self.tool,) if self.tool else ())))


@dataclass(frozen=True, slots=True)
class Process:
    """What rules look at in a process: the program that it is about to run, and its descent."""

    started: Started
    action: str = "run_command"
    """The name of the action that started it."""
    ancestors: tuple[str, ...] = ()
    """Names of the programs that it descends from, the nearest first."""
    interpreter: Started | None = None
    """What runs in its place, where its file is a script that is not one of the image's own."""
    privileged: bool = False
    """Whether `sudo` asks for it, to be root."""
