"""Runs pytest in the grading container: `python pytest_runner.py ARGUMENT...`.

It is laid into the container, owned by root; nothing of the project is there beside it. What it
writes and how it ends stands in `frameworks/base.py`, and what it does to serve, where it is read
from standard input and gets its arguments from descriptor 3.

Who serves loads nothing of the worktree: a candidate's code would run in the runner itself, and
that of the repository would stand for the candidate's. pytest loads some packages of others, and
where one of them is what the repository is about, this does not serve.
"""

from __future__ import annotations  # pytest 7 does not have all the types that are named here

import base64
import contextlib
import ctypes
import gc
import importlib
import json
import os
import select
import signal
import sys
import time
from typing import IO

SERVES = sys.argv == ["-"]
WORKTREE = os.getcwd()  # noqa: PTH109 - quicker to start
WANTED = ("faulthandler", "pdb")
"""What pytest imports besides its plugins whenever it runs."""


def is_of_the_worktree(path: str) -> bool:
    """Whether a file or folder lies below the one in which this is started."""
    return f"{os.path.abspath(path)}/".startswith(f"{WORKTREE}/")  # noqa: PTH100 - quicker to start


def greet(*, serves: bool) -> None:
    """Say whether there is something to fork from."""
    sys.stdout.write(json.dumps({"serves": serves}) + "\n")
    sys.stdout.flush()
    if not serves:
        sys.exit()


everywhere = sys.path[:]
if SERVES:
    sys.path[:] = [path for path in everywhere if not is_of_the_worktree(path)]
try:
    import pytest
    from _pytest.config import default_plugins

    if SERVES:
        for name in (*(f"_pytest.{plugin}" for plugin in default_plugins), *WANTED):
            importlib.import_module(name)
except ImportError:
    if not SERVES:
        raise
    greet(serves=False)
sys.path[:] = everywhere

FINISHED, STATUSES = 16, 200
CHANNEL_LIMIT, LOG_LIMIT, CHUNK = 16 << 20, 256 << 10, 65536
FIRST_DRAWN = 10_100
"""The lowest number of a user that is drawn. No other serves: all that this one runs is killed."""

CALLS = 3
"""The descriptor from which who serves is asked."""
PR_SET_DUMPABLE = 4
"""Without it nobody but root traces a process or sees its descriptors and memory."""


class Outcomes:
    """Tells of each test when it has ended."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._phases: dict[str, list[pytest.TestReport]] = {}
        self._told = 0
        self.failed = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep one phase of one test; a subtest's report is a part of its test's."""
        if type(report) is pytest.TestReport:
            self._phases.setdefault(report.nodeid, []).append(report)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Tell how a test ended."""
        self._told += 1
        self._write(test=nodeid, outcome=outcome(self._phases.pop(nodeid, [])))

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Take the framework's own count."""
        stats = terminalreporter.stats
        reports = [*stats.get("failed", ()), *stats.get("error", ())]
        self.failed = len({each.nodeid for each in reports if type(each) is pytest.TestReport})

    def end(self) -> None:
        """Say that all was told."""
        self._write(end=self._told)

    def _write(self, **fields: object) -> None:
        self._stream.write(json.dumps(fields) + "\n")
        self._stream.flush()


def outcome(reports: list[pytest.TestReport]) -> str:
    """Make one outcome of a test's phases."""
    phases = {report.when: report.outcome for report in reports}
    expected = any(hasattr(report, "wasxfail") for report in reports)
    if {phases.get("setup", "failed"), phases.get("teardown", "failed")} & {"failed"}:
        return "error"
    if phases.get("call") == "failed":
        return "failed"
    if "skipped" in phases.values():
        return "xfailed" if expected else "skipped"
    if phases.get("call") != "passed":
        return "error"
    return "xpassed" if expected else "passed"


def run(arguments: list[str], channel: int) -> None:
    """Run pytest, and end without whatever was registered for the exit."""
    with os.fdopen(channel, "w", encoding="utf-8") as stream:
        outcomes = Outcomes(stream)
        code = int(pytest.main(arguments, plugins=[outcomes]))
        for printed in (sys.stdout, sys.stderr):
            printed.flush()
        finished = code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        if finished:
            outcomes.end()
        os._exit(FINISHED + outcomes.failed % STATUSES if finished else code)


def serve() -> None:
    """Run a file in a child for each line of arguments."""
    if os.getuid() < FIRST_DRAWN:
        sys.exit("This kills all processes of its user, and is not run by this one.")
    prctl = ctypes.CDLL(None).prctl
    if prctl(PR_SET_DUMPABLE, 0, 0, 0, 0):
        sys.exit("This process cannot be shielded.")
    others = (module for name, module in [*sys.modules.items()] if name != "__main__")
    files = (getattr(module, "__file__", None) for module in others)
    if any(map(is_of_the_worktree, filter(None, files))):
        greet(serves=False)
    # As `python -m pytest` has them: processes that are spawned load the file anew.
    main = sys.modules["__main__"]
    main.__file__ = os.path.join(os.path.dirname(pytest.__file__), "__main__.py")  # noqa: PTH118, PTH120
    sys.argv[:] = [main.__file__]
    gc.freeze()
    calls = os.fdopen(os.dup(CALLS), encoding="utf-8")
    for each in (0, CALLS):
        os.close(each)
    os.open(os.devnull, os.O_RDONLY)
    greet(serves=True)
    for line in calls:
        told, channel = os.pipe()
        printed, log = os.pipe()
        child = os.fork()
        if child == 0:
            prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
            begin(json.loads(line), channel, log)
        os.close(channel)
        os.close(log)
        outcomes, output = Sink(told, CHANNEL_LIMIT), Sink(printed, LOG_LIMIT)
        status = follow(child, [outcomes, output])
        kill_others()
        answer = {
            "status": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
            "outcomes": base64.b64encode(outcomes.data).decode(),
            "log": base64.b64encode(output.data).decode(),
            "cut": outcomes.cut,
        }
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    sys.exit()


def begin(arguments: list[str], channel: int, log: int) -> None:
    """Be the child: keep nothing of the parent's but the two pipes."""
    os.setsid()
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    kept = os.dup2(channel, 3)
    os.closerange(4, 1024)
    run(arguments, kept)


class Sink:
    """What comes out of a pipe, up to a limit."""

    def __init__(self, pipe: int, limit: int) -> None:
        self.pipe, self.data, self.cut = pipe, b"", False
        self._limit = limit
        os.set_blocking(pipe, False)

    def take(self) -> bool:
        """Read what is there; False where there is nothing, True at the end too."""
        try:
            data = os.read(self.pipe, CHUNK)
        except BlockingIOError:
            return False
        self.cut = self.cut or len(self.data) + len(data) > self._limit
        self.data += data[: self._limit - len(self.data)]
        return bool(data)


def follow(child: int, sinks: list[Sink]) -> int:
    """Read until the child itself has ended, whoever else has the pipes open."""
    status = None
    while status is None:
        ready = select.select([sink.pipe for sink in sinks], [], [], 0.01)[0]
        read = [sink.take() for sink in sinks if sink.pipe in ready]
        if ready and not any(read):
            time.sleep(0.001)  # closed by a child that goes on
        ended, code = os.waitpid(child, os.WNOHANG)
        status = code if ended else None
    for sink in sinks:
        while sink.take():
            pass
        os.close(sink.pipe)
    return status


def kill_others() -> None:
    """Kill whatever else this user runs; who is killed cannot fork any more."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(-1, signal.SIGKILL)


if __name__ == "__main__":
    if SERVES:
        serve()
    own = os.dup(1)
    os.dup2(2, 1)
    run(sys.argv[1:], own)
