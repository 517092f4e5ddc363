"""`process/...` of the client as `run_command`, one process after the other."""

import base64
import json
import shlex
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from pydantic import Field, JsonValue

from sandbox.agents.clients.codex.actions import Actions
from sandbox.agents.clients.codex.paths import Paths
from sandbox.agents.clients.codex.wire import Message, Refused, Shape, Speaker, read
from sandbox.model.errors import CallError
from sandbox.model.observation import CommandResult, ErrorCode, Observation

Result = dict[str, JsonValue]

CHUNK = 1 << 16
"""Bytes of output in a message."""

KEPT = 64
"""Processes that have ended and can still be read."""

WAIT_SECONDS = 60.0
"""How long a read waits at most."""

KILLED, REFUSED, OUT_OF_TIME = 137, 126, 124
"""Exit codes, as shells and `timeout` have them, where the command itself has none."""


class Started(Shape):
    """Of `process/start`."""

    process_id: str
    argv: list[str] = Field(min_length=1)
    cwd: str
    tty: bool = False
    pipe_stdin: bool = False
    arg0: str | None = None
    sandbox: JsonValue = None
    enforce_managed_network: bool = False


class Named(Shape):
    """Of all that ask for a process that was started."""

    process_id: str


class Wanted(Named):
    """Of `process/read`."""

    after_seq: int | None = None
    max_bytes: int | None = None
    wait_ms: int | None = None


@dataclass
class Process:
    """One that was asked for."""

    id: str
    chunks: list[tuple[int, str, bytes]] = field(default_factory=list)
    """Number, stream, bytes."""
    sequence: int = 0
    call: int | None = None
    stopped: bool = False
    exit_code: int | None = None
    closed: bool = False


class Processes:
    """Keeps them; requests come from one thread, what is waited for goes on in others."""

    def __init__(
        self,
        actions: Actions,
        places: Paths,
        speaker: Speaker,
        later: Callable[[Callable[[], None]], None],
    ) -> None:
        """`later` does something once all that was put before it is done."""
        self._actions = actions
        self._places = places
        self._speaker = speaker
        self._later = later
        self._changed = threading.Condition()
        self._processes: dict[str, Process] = {}
        self._ended: deque[str] = deque()
        self.methods: dict[str, Callable[[Message], None]] = {
            "process/start": self._start,
            "process/read": self._read,
            "process/write": self._write,
            "process/signal": self._signal,
            "process/terminate": self._terminate,
        }

    def _start(self, message: Message) -> None:
        asked = read(message, Started)
        arguments: Result = {"command": shell_line(asked), "cwd": self._places.relative(asked.cwd)}
        process = Process(asked.process_id)
        with self._changed:
            if process.id in self._processes:
                raise Refused(f"There is a process {process.id[:100]!r} already.")
            self._later(lambda: self._run(process, arguments))
            self._processes[process.id] = process
            # Nothing is told of the process before this, for that needs the lock.
            self._speaker.result(message, {"processId": process.id, "sandboxType": "none"})

    def _run(self, process: Process, arguments: Result) -> None:
        def asked(number: int) -> None:
            with self._changed:
                process.call = number
                stopped = process.stopped
            if stopped:
                self._actions.cancel(number)

        with self._changed:  # until it is answered that it has been started
            stopped = process.stopped
        if stopped:
            self._end(process, KILLED)
            return
        try:
            seen = self._actions.perform("run_command", arguments, asked)
        except CallError as error:
            seen = Observation(status="error", error_code=ErrorCode.RUN_OVER, message=error.message)
        for stream, content in output(seen):
            for start in range(0, len(content), CHUNK):
                self._tell(process, stream, content[start : start + CHUNK])
        self._end(process, exit_code(seen))

    def _tell(self, process: Process, stream: str, chunk: bytes) -> None:
        with self._changed:
            process.sequence += 1
            process.chunks.append((process.sequence, stream, chunk))
            params = {"processId": process.id, **_chunk(process.chunks[-1])}
            self._changed.notify_all()
        self._speaker.notify("process/output", params)

    def _end(self, process: Process, code: int) -> None:
        with self._changed:
            exited, closed = process.sequence + 1, process.sequence + 2
            process.sequence, process.exit_code, process.closed = closed, code, True
            self._ended.append(process.id)
            if len(self._ended) > KEPT:
                del self._processes[self._ended.popleft()]
            self._changed.notify_all()
        about: Result = {"processId": process.id, "seq": exited}
        self._speaker.notify("process/exited", {**about, "exitCode": code, "sandboxDenied": False})
        self._speaker.notify("process/closed", {**about, "seq": closed})

    def _read(self, message: Message) -> None:
        """Answer once there is something to read, from a thread of its own."""
        asked = read(message, Wanted)
        process = self._find(asked.process_id)
        after = asked.after_seq or 0
        seconds = min(max(asked.wait_ms or 0, 0) / 1000, WAIT_SECONDS)

        def answer() -> None:
            with self._changed:
                self._changed.wait_for(lambda: process.closed or process.sequence > after, seconds)
                result = _state(process, after, asked.max_bytes)
            self._speaker.result(message, result)

        if seconds and not process.closed:
            threading.Thread(target=answer, name="read", daemon=True).start()
        else:
            answer()

    def _write(self, message: Message) -> None:
        known = read(message, Named).process_id in self._processes
        status = "stdinClosed" if known else "unknownProcess"
        self._speaker.result(message, {"status": status})

    def _signal(self, message: Message) -> None:
        """An interrupt is the only signal; the process is killed, with all that it started."""
        self._stop(self._find(read(message, Named).process_id))
        self._speaker.result(message, {})

    def _terminate(self, message: Message) -> None:
        process = self._processes.get(read(message, Named).process_id)
        running = process is not None and self._stop(process)
        self._speaker.result(message, {"running": running})

    def _stop(self, process: Process) -> bool:
        """Take it back; whether it had not ended yet."""
        with self._changed:
            if process.closed:
                return False
            process.stopped = True
            call = process.call
        if call is not None:
            self._actions.cancel(call)
        return True

    def _find(self, identifier: str) -> Process:
        found = self._processes.get(identifier)
        if found is None:
            raise Refused(f"There is no process {identifier[:100]!r}.")
        return found


def shell_line(asked: Started) -> str:
    """Give the line that bash is to run; Refused where a process is wanted that no action is."""
    if asked.tty or asked.pipe_stdin:
        raise Refused("Commands have no terminal and no input here: run it without `tty`.")
    if asked.sandbox is not None or asked.enforce_managed_network or asked.arg0 is not None:
        raise Refused("The container is the sandbox; the client is to ask for no other.")
    match asked.argv:
        case [program, "-c" | "-lc", line] if program.rsplit("/", 1)[-1] == "bash":
            return line
    return shlex.join(asked.argv)


def exit_code(seen: Observation) -> int:
    """Put the end of a command into one number, as a shell does."""
    if seen.error_code is ErrorCode.TIMEOUT:
        return OUT_OF_TIME
    if seen.error_code is ErrorCode.CANCELLED:
        return KILLED
    if seen.status == "error":
        return REFUSED
    result = CommandResult.model_validate_json(_json(seen))
    if result.exit_code is not None:
        return result.exit_code
    return 128 + (result.signal or 0)


def output(seen: Observation) -> list[tuple[str, bytes]]:
    """Return what the command wrote, and what the harness has to say of it."""
    said = []
    notes = [f"{seen.error_code}: {seen.message}"] if seen.status == "error" else []
    if seen.result.get("stdout") is not None:
        result = CommandResult.model_validate_json(_json(seen))
        said = [("stdout", result.stdout.encode()), ("stderr", result.stderr.encode())]
        if result.stdout_truncated or result.stderr_truncated:
            notes.append("the output is longer; this is what the limit allows")
        if result.out_of_memory:
            notes.append("the command ran out of memory")
    return [*said, *(("stderr", f"sandbox: {note}\n".encode()) for note in notes)]


def _state(process: Process, after: int, limit: int | None) -> Result:
    chunks: list[JsonValue] = []
    left = CHUNK if limit is None else max(limit, 1)
    following = after + 1
    whole = True
    for chunk in process.chunks:
        if chunk[0] <= after:
            continue
        if chunks and len(chunk[2]) > left:
            whole = False
            break
        left -= len(chunk[2])
        chunks.append(_chunk(chunk))
        following = chunk[0] + 1
    ended = process.closed and whole
    return {
        "chunks": chunks,
        "nextSeq": max(following, process.sequence + 1) if ended else following,
        "exited": ended,
        "exitCode": process.exit_code if ended else None,
        "closed": ended,
        "failure": None,
        "sandboxDenied": False,
    }


def _chunk(chunk: tuple[int, str, bytes]) -> Result:
    number, stream, content = chunk
    return {"seq": number, "stream": stream, "chunk": base64.b64encode(content).decode()}


def _json(seen: Observation) -> str:
    return json.dumps(seen.result)
