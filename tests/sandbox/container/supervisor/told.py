"""An observer of watched files that keeps what it is told, in order with programs."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.model.session import Exec, ExecEnd, ExecObserver, Touch, TouchKind
from tests.sandbox.container.supervisor.local import Local


@dataclass
class Told(ExecObserver):
    """Everything in the order in which it was told; paths by what stands below the folder."""

    folder: Path
    lines: list[str] = field(default_factory=list)
    touches: list[Touch] = field(default_factory=list)

    def seen(self, execution: Exec) -> int:
        self.lines.append("run " + Path(os.fsdecode(execution.program)).name)
        return 0

    def ended(self, execution: Exec, end: ExecEnd) -> None:
        del end
        self.lines.append("end " + Path(os.fsdecode(execution.program)).name)

    def touched(self, touch: Touch) -> None:
        self.touches.append(touch)
        path = os.fsdecode(touch.path).removeprefix(f"{self.folder}/")
        verb = "wrote" if touch.kind is TouchKind.FILE else touch.kind.value
        self.lines.append(f"{verb} {path}".rstrip())

    def take(self) -> list[str]:
        """What was told since the last time, without the programs."""
        told, self.lines = self.lines, []
        return [line for line in told if line.split()[0] not in ("run", "end")]

    def state(self) -> dict[str, str]:
        """By path: the digest of what stands there by all that was told."""
        known: dict[str, str] = {}
        for touch in self.touches:
            path = os.fsdecode(touch.path)
            if touch.kind is TouchKind.FILE:
                known[path] = touch.digest
            elif touch.kind is TouchKind.GONE:
                for other in [each for each in known if f"{each}/".startswith(f"{path}/")]:
                    del known[other]
        return known


def shell(local: Local, folder: Path, line: str) -> None:
    done = local.shell(line, cwd=str(folder), interception="log")
    assert done.exit_code == 0, done
    local.supervisor.settle()
