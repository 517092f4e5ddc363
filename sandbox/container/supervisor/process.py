"""A command that a supervisor runs, as the host sees it."""

import os
import queue
import threading
import time
from collections.abc import Callable
from copy import copy
from errno import EXDEV
from typing import Generic, TypeVar

from sandbox.container.supervisor import protocol
from sandbox.container.supervisor.protocol import STDIN_WINDOW, Ended, Reply, Request, Run
from sandbox.model.errors import ProtocolError, SandboxError
from sandbox.model.session import Command, Completed

Part = TypeVar("Part")

SUBJECTS = {
    "cwd": "working directory",
    "user": "user",
    "fork": "new process",
    "watch": "interception",
}


NO_FLAGS = Run(0)
SLICE_SECONDS = 0.5


def acquire(lock: threading.Lock, timeout: float | None = None) -> bool:
    """Wait for a lock, for so many seconds at most; whether it came.

    Without a timeout a signal that comes just before the wait begins would be heard at its end:
    Python runs handlers between steps, and the wait is a single one. So it is many short ones.
    """
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        left = SLICE_SECONDS if end is None else min(SLICE_SECONDS, end - time.monotonic())
        if lock.acquire(timeout=max(left, 0)):
            return True
        if end is not None and time.monotonic() >= end:
            return False


class Pending:
    """A request whose last frame has not come yet. The reader's thread calls `take` and `fail`."""

    def __init__(self) -> None:
        self._failure: Exception | None = None
        self.done = False
        self._over = threading.Lock()
        self._over.acquire()

    @property
    def failed(self) -> bool:
        """Whether the last frame told of an error."""
        return self._failure is not None

    def take(self, kind: Reply, payload: bytes) -> bool:
        """Take a frame; whether it was the last. ProtocolError for one that does not belong."""
        raise NotImplementedError

    def fail(self, failure: Exception) -> None:
        """There will be no more frames."""
        self._failure = failure
        self.finish()

    def finish(self) -> None:
        """The last frame has come."""
        self.done = True
        self._over.release()

    def settle(self, timeout: float | None = None) -> bool:
        """Wait for the last frame; False where it did not come in time. Raises what failed."""
        if not acquire(self._over, timeout):
            return False
        self._over.release()
        if self._failure is not None:
            # What is kept here is not raised: all frames that it went through would be kept too.
            raise copy(self._failure)
        return True


class Answer(Pending, Generic[Part]):
    """A request that is answered by data and a last frame."""

    def __init__(self, subject: str | bytes, read: Callable[[bytes], Part]) -> None:
        """Each part is `read` as it comes, while the supervisor is busy with the next one."""
        super().__init__()
        self._subject = subject
        self._read = read
        self.parts: list[Part] = []

    def take(self, kind: Reply, payload: bytes) -> bool:
        """Take data, the end or an error."""
        if kind is Reply.ERROR:
            self._failure = refusal(payload, {"path": self._subject})
            return True
        if kind not in (Reply.DATA, Reply.OK):
            raise unexpected(kind)
        self.parts.append(self._read(payload))
        return kind is Reply.OK


class RemoteProcess(Pending):
    """A command of a session; see `sandbox.container.engines.base.Process`."""

    def __init__(
        self,
        command: Command,
        send: Callable[[bytes], None],
        await_end: "Callable[[RemoteProcess], None]",
        *,
        announce: bool,
        interception: Run = NO_FLAGS,
    ) -> None:
        """`await_end` settles it; SessionLostError where its end cannot come any more."""
        super().__init__()
        self.command, self._request, self._send = command, 0, send
        self._await_end = await_end
        self.killed = False
        """Whether its end was asked for."""
        self.stdin_bytes = len(command.stdin)
        """All that will be sent; the supervisor closes standard input after it."""
        self._interception = interception
        self._stdout: list[bytes] = []
        self._stderr: list[bytes] = []
        self._completed: Completed | None = None
        self._started = threading.Lock()
        self._announce = announce
        self._credit: queue.SimpleQueue[int] = queue.SimpleQueue()
        if announce:
            self._started.acquire()

    @property
    def completed(self) -> Completed | None:
        """How it ended, perhaps before that may be told."""
        return self._completed

    @property
    def request(self) -> int:
        """The number by which the supervisor knows it, 0 before it is launched."""
        return self._request

    def launch(self, request: int) -> None:
        """Send the request; a thread of its own sends standard input beyond the window."""
        self._request = request
        first = self.command.stdin[:STDIN_WINDOW]
        self._send(self._run_frame(first))
        if len(first) < len(self.command.stdin):
            threading.Thread(target=self._feed, name="supervisor-stdin", daemon=True).start()

    def has_started(self, timeout: float) -> bool:
        """Wait until the program runs; False where it did not in time. Raises where it cannot."""
        if not acquire(self._started, timeout):
            return False
        self._started.release()
        if self._failure is not None:
            self.settle()
        return True

    def poll(self) -> Completed | None:
        """How it ended, or None while it runs."""
        if not self.done:
            return None
        self.settle()
        return self._completed

    def wait(self, timeout: float | None = None) -> Completed:
        """Block until it ends."""
        if timeout is None:
            self._await_end(self)
        elif not self.settle(timeout):
            raise TimeoutError(f"the command still runs after {timeout} seconds")
        if self._completed is None:
            raise ProtocolError("A command ended without a result.")
        return self._completed

    def kill(self) -> None:
        """Kill its whole process tree."""
        self.killed = True
        self._send(protocol.frame(Request.KILL, self._request))

    def take(self, kind: Reply, payload: bytes) -> bool:
        """Take output, its start or its end."""
        if kind is Reply.STDOUT:
            self._stdout.append(payload)
        elif kind is Reply.STDERR:
            self._stderr.append(payload)
        elif kind is Reply.STDIN_TAKEN:
            self._credit.put(int.from_bytes(payload, "little"))
        elif kind is Reply.STARTED and self._announce and self._started.locked():
            self._started.release()
        elif kind is Reply.ENDED:
            self._completed = self._read_end(payload)
        elif kind is Reply.ERROR:
            program = self.command.argv[0] if self.command.argv else ""
            names = {"cwd": self.command.cwd, "program": program}
            self._failure = refusal(payload, names)
        else:
            raise unexpected(kind)
        return kind in (Reply.ENDED, Reply.ERROR)

    def finish(self) -> None:
        """It has ended or could not be started."""
        super().finish()
        self._credit.put(-1)
        if self._announce and self._started.locked():
            self._started.release()

    def _run_frame(self, stdin: bytes) -> bytes:
        command = self.command
        flags = Run.KILL_SURVIVORS if command.kill_survivors else Run(0)
        if self._announce:
            flags |= Run.ANNOUNCE
        seen = self._interception & (Run.EXEC_LOG | Run.EXEC_HOLD)
        told = command.execs_told.to_bytes(8, "little") if seen else b""
        flags |= self._interception
        milliseconds = 0 if command.timeout is None else max(1, round(command.timeout * 1000))
        numbers = (milliseconds, command.stdout_limit, command.stderr_limit)
        environment = [f"{name}={value}" for name, value in command.environment.items()]
        payload = b"".join(
            (
                flags.to_bytes(4, "little"),
                command.user.uid.to_bytes(4, "little"),
                command.user.gid.to_bytes(4, "little"),
                *(number.to_bytes(8, "little") for number in numbers),
                protocol.string(command.cwd),
                protocol.strings(command.argv),
                protocol.strings(environment),
                self.stdin_bytes.to_bytes(8, "little"),
                protocol.string(stdin),
                told,
            )
        )
        return protocol.frame(Request.RUN, self._request, payload)

    def _feed(self) -> None:
        rest, room = memoryview(self.command.stdin)[STDIN_WINDOW:], 0
        while rest:
            credit = self._credit.get()
            if credit < 0:
                return
            room += credit
            data = bytes(rest[:room])
            rest, room = rest[len(data) :], room - len(data)
            try:
                self._send(protocol.frame(Request.STDIN, self._request, data))
            except SandboxError:
                return  # whoever waits for the command is told of it

    def _read_end(self, payload: bytes) -> Completed:
        code, signal, flags, survivors, out, error, duration, user, system, peak = protocol.unpack(
            protocol.ENDED, payload
        )
        return Completed(
            exit_code=None if code == protocol.NO_EXIT_CODE else code,
            signal=signal or None,
            stdout=b"".join(self._stdout),
            stderr=b"".join(self._stderr),
            stdout_bytes=out,
            stderr_bytes=error,
            duration=duration / 1e6,
            timed_out=bool(flags & Ended.TIMED_OUT),
            killed=bool(flags & Ended.KILLED),
            survivors=survivors,
            user_seconds=user / 1e6,
            system_seconds=system / 1e6,
            peak_bytes=peak,
            out_of_memory=bool(flags & Ended.OUT_OF_MEMORY),
        )


def unexpected(kind: Reply) -> ProtocolError:
    """A frame came that the protocol does not allow at this point."""
    return ProtocolError(f"The supervisor sent an unexpected {kind.name} frame.")


def refusal(payload: bytes, names: dict[str, str | bytes]) -> OSError:
    """The error that an error frame tells of; `names` has a file name for each subject."""
    cursor = protocol.Cursor(payload)
    number, subject = cursor.u32(), cursor.string().decode()
    what = SUBJECTS.get(subject)
    text = f"{what}: {os.strerror(number)}" if what else os.strerror(number)
    name = names.get(subject)
    kind = PermissionError if number == EXDEV else OSError
    return kind(number, text) if name is None else kind(number, text, name)
