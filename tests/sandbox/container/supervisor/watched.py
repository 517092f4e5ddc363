"""A supervisor that is watched: what it tells of execs is kept, and decided on as a test wants."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox.model.coverage import Coverage
from sandbox.model.session import Completed, Exec, ExecEnd, ExecObserver, Interception, User
from tests.sandbox.container.supervisor.local import SELF, Local, Start, command

OTHER = User(23457, 23457)
ALLOW: Callable[[Exec], int] = lambda _: 0  # noqa: E731

as_root = pytest.mark.skipif(os.getuid() != 0, reason="becomes another user")


class Recorder(ExecObserver):
    """Keeps all that it is told."""

    def __init__(self, decide: Callable[[Exec], int] = ALLOW) -> None:
        self.decide = decide
        self.all: list[Exec] = []
        self.ends: dict[int, ExecEnd] = {}
        self.untold = 0

    def seen(self, execution: Exec) -> int:
        self.all.append(execution)
        return self.decide(execution)

    def ended(self, execution: Exec, end: ExecEnd) -> None:
        assert execution.number not in self.ends
        self.ends[execution.number] = end

    def lost(self, _: str, count: int, *, unseen: bool = False) -> None:
        assert not unseen
        self.untold += count

    @property
    def names(self) -> list[str]:
        return [Path(os.fsdecode(each.program)).name for each in self.all]

    def one(self, name: str) -> Exec:
        (found,) = [each for each in self.all if Path(os.fsdecode(each.program)).name == name]
        return found

    def end(self, name: str) -> ExecEnd:
        return self.ends[self.one(name).number]


class Watched:
    """A supervisor whose commands are intercepted."""

    def __init__(
        self,
        local: Local,
        how: Interception,
        user: User,
        folder: Path,
        coverage: Coverage = "exec",
    ) -> None:
        self.local, self.how, self.user, self.folder = local, how, user, folder
        self.coverage = coverage
        self.recorder = Recorder()
        local.supervisor.on_exec(self.recorder)

    @property
    def tells_signals(self) -> bool:
        """Whether it is known which signal killed a program below the top level."""
        features = self.local.supervisor.greeting.features
        return self.coverage == "ptrace" or "exec_status" in features

    def run(self, *argv: str | bytes, **options: Any) -> Completed:  # noqa: ANN401
        options = {"user": self.user, "cwd": str(self.folder), "tag": "tag"} | options
        return self.local.supervisor.run(command(*argv, interception=self.how, **options))

    def shell(self, line: str, **options: Any) -> Completed:  # noqa: ANN401
        return self.run("/bin/sh", "-c", line, **options)


def watched(
    start: Start,
    how: Interception,
    folder: Path,
    user: User = SELF,
    coverage: Coverage = "exec",
    *options: str,
) -> Watched:
    local = start("unix", *([] if coverage == "exec" else [f"--{coverage}"]), *options)
    if local.supervisor.greeting.coverage(how) != coverage:
        pytest.skip(f"this kernel has no {coverage}")
    return Watched(local, how, user, folder, coverage)


OLDER = "--before-6.15"
"""An option of the supervisor's: as where the kernel does not tell how processes ended."""


def ways(how: Interception) -> list[Any]:
    """All ways in which execs can be seen, for the agent's user and, as root, for another."""
    return [
        pytest.param((how, user, *means), marks=marks, id=f"{how}-{name}{suffix}")
        for suffix, means in (("", ["exec"]), ("-older", ["exec", OLDER]), ("-ptrace", ["ptrace"]))
        for name, user, marks in (("self", SELF, ()), ("other", OTHER, as_root))
    ]


HELD: list[Any] = ways("hold")
EACH: list[Any] = HELD + ways("log")


def copied(attacks: Path, to: Path) -> Path:
    to.write_bytes(attacks.read_bytes())
    to.chmod(0o755)
    return to


def only(*allowed: bytes) -> Callable[[Exec], int]:
    return lambda seen: 0 if seen.resolved in allowed else errno.EPERM
