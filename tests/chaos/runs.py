"""Runs of the real command line that harm is done to, and what has to be true of them then."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.container.engines.base import Engine
from sandbox.model.errors import StoreError
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from sandbox.run.run_containers import RUN
from tests import command_server

SANDBOX = str(Path(sys.executable).with_name("sandbox"))
TASK = "humanize/file-sizes"
SECONDS = 240.0
"""Beyond this a run hangs."""

EXPECTED = {"oracle": "passed", "null": "failed"}
"""The verdicts of agents to whom no harm is done."""


@dataclass(slots=True)
class Harmed:
    """One command line with a runs folder and a temporary folder of its own."""

    place: Path
    environment: Mapping[str, str]
    agent: str = "null"
    options: tuple[str, ...] = ()
    runs: Path = field(init=False)
    said: str = ""
    code: int | None = None
    peak_bytes: int = 0
    """Memory that the command line took at most, known at its end."""
    _process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.runs = self.place / "runs"
        (self.place / "tmp").mkdir()

    @property
    def variables(self) -> dict[str, str]:
        """The environment of every command."""
        return {**os.environ, **self.environment, "TMPDIR": str(self.place / "tmp")}

    def begin(self, *words: str) -> "Harmed":
        """Start it, or another command on the same runs."""
        line = words or ("run", TASK, "--agent", self.agent)
        with (self.place / "said").open("ab") as said:
            self._process = subprocess.Popen(
                (SANDBOX, *line, "--runs", str(self.runs), *self.options),
                env=self.variables,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
        return self

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The process of the command line."""
        assert self._process is not None
        return self._process

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, if it still runs."""
        if self.process.poll() is None:
            self.process.send_signal(number)

    def end(self) -> bool:
        """Wait for the end; False where it hangs, and then it is killed."""
        try:
            self._wait(time.monotonic() + SECONDS)
        except TimeoutError:
            self.process.kill()
            self.process.wait()
            return False
        finally:
            self.code = self.process.returncode
            self.said = (self.place / "said").read_text(errors="replace")
        return True

    def _wait(self, deadline: float) -> None:
        """Wait as `Popen.wait` does, which does not tell what a process has used."""
        while self.process.returncode is None:
            found, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if found:
                self.process.returncode = os.waitstatus_to_exitcode(status)
                self.peak_bytes = usage.ru_maxrss << 10
            elif time.monotonic() > deadline:
                raise TimeoutError
            else:
                time.sleep(0.02)

    def folders(self) -> list[RunFolder]:
        """The runs that there are."""
        return list(Store(self.runs).folders()) if self.runs.is_dir() else []

    def asked(self, *words: str) -> tuple[int, str]:
        """Run another verb on these runs."""
        line = (SANDBOX, *words, "--runs", str(self.runs))
        made = command_server.run(line, self.variables, SECONDS)
        return made.returncode, (made.stdout + made.stderr).decode(errors="replace")


def containers(engine: Engine, harmed: Harmed, seconds: float) -> list[str]:
    """Wait until its containers are there; none where it ends without one."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and harmed.process.poll() is None:
        for folder in harmed.folders():
            found = [each.id for each in engine.containers(f"{RUN}={folder.id}") if each.running]
            if found:
                return found
        time.sleep(0.05)
    return []


def problems(engine: Engine, harmed: Harmed, *, killed: bool = False) -> Iterator[str]:
    """Say what does not hold after a fault: it has ended, and `gc` was asked for nothing yet."""
    if "a mistake in sandbox" in harmed.said:
        yield harmed.said[-500:]
    if "Traceback" in harmed.said:
        yield f"a traceback: {harmed.said[harmed.said.index('Traceback') :][:1500]}"
    if harmed.code == 1 and not any(_verdict(each) == "failed" for each in harmed.folders()):
        yield "exit 1 without the verdict `failed`"
    if killed:
        _settle(engine, harmed)
    for each in (harmed.place / "tmp").iterdir():
        os.utime(each, (1, 1))
    for name in [folder.id for folder in harmed.folders()] or ["no-run"]:
        code, said = harmed.asked("gc", name)  # the containers of others are theirs
        if code or "Traceback" in said:
            yield f"gc: {said[-300:]}"
    for folder in harmed.folders():
        if left := engine.containers(f"{RUN}={folder.id}"):
            yield f"{len(left)} containers are left after gc"
        verdict = _verdict(folder)
        if verdict not in (EXPECTED.get(harmed.agent, "failed"), "error", "invalid"):
            yield f"the verdict is {verdict!r}"
    if left_over := [each.name for each in (harmed.place / "tmp").iterdir()]:
        yield f"temporary files are left: {left_over[:3]}"
    for words in (("report",), ("show", "last")):
        code, said = harmed.asked(*words)
        if "Traceback" in said or code not in (0, 2, 3, 4):
            yield f"{words[0]}: exit {code}: {said[-300:]}"


def _settle(engine: Engine, harmed: Harmed) -> None:
    """Wait until containers have noticed that their harness is gone."""
    end = time.monotonic() + 20
    for folder in harmed.folders():
        while any(each.running for each in engine.containers(f"{RUN}={folder.id}")):
            if time.monotonic() > end:
                return
            time.sleep(0.1)


def _verdict(folder: RunFolder) -> str:
    try:
        return str(folder.record().verdict or "")
    except StoreError:
        return "error"
