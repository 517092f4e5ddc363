"""The host's side of the supervisor's protocol.

One thread reads the stream and hands each frame to the request that it belongs to; callers send
for themselves and wait. Whoever waits when the stream ends is told, nobody hangs.
"""

import contextlib
import math
import queue
import threading
import time
from collections.abc import Callable, Sequence

from sandbox.container.supervisor import protocol, top_level
from sandbox.container.supervisor.conversation import RemoteConversation
from sandbox.container.supervisor.execs import EXEC_KINDS, Execs
from sandbox.container.supervisor.files import Outgoing, RemoteFiles
from sandbox.container.supervisor.forward import RemoteListener
from sandbox.container.supervisor.patience import (
    ANSWER_SECONDS,
    GRACE_SECONDS,
    QUIET_SECONDS,
    Patience,
    Silence,
)
from sandbox.container.supervisor.process import (
    NO_FLAGS,
    Answer,
    Part,
    Pending,
    RemoteProcess,
    unexpected,
)
from sandbox.container.supervisor.protocol import Reply, Request, Run
from sandbox.container.supervisor.streams import Stream
from sandbox.model.connection import Serve
from sandbox.model.errors import ProtocolError, SandboxError, SessionLostError
from sandbox.model.session import (
    Command,
    Completed,
    Exec,
    ExecObserver,
    Greeting,
    Usage,
    WatchedFiles,
)

READY_SECONDS = 30.0
INTERCEPTION = {"off": NO_FLAGS, "log": Run.EXEC_LOG, "hold": Run.EXEC_HOLD}
"""The flag of a run that each way of interception takes."""


class Supervisor(RemoteFiles):
    """A supervisor at the other end of a stream, which it owns. Safe to use from several threads.

    The methods are those of `engines.base.Session`. Raises SessionLostError where no
    greeting comes within `ready_timeout` seconds.
    """

    def __init__(self, stream: Stream, ready_timeout: float = READY_SECONDS) -> None:
        self._stream = stream
        self._sending = threading.Lock()
        self._outbox: queue.SimpleQueue[Outgoing | None] = queue.SimpleQueue()
        self._table = threading.Lock()
        self._pending: dict[int, Pending] = {}
        self._last = 0
        self._lost: SessionLostError | None = None
        self._alone: dict[int, Exec] = {}
        self._hello = _Hello()
        self._patience = Patience()
        self._execs = Execs(self._send, self._observer_failed)
        self._reader = threading.Thread(target=self._read, name="supervisor", daemon=True)
        self._reader.start()
        self._writer = threading.Thread(target=self._write, name="supervisor-out", daemon=True)
        self._writer.start()
        try:
            self._greet(ready_timeout)
        except BaseException:
            self.close()
            raise

    @property
    def greeting(self) -> Greeting:
        """What the supervisor said first."""
        return protocol.greeting(self._hello.payload)

    def on_exec(self, observer: ExecObserver | None) -> None:
        """Tell this observer of execs from now on; without one, held execs are refused."""
        self._execs.observer = observer

    def run(self, command: Command) -> Completed:
        """Start a command and wait for its end; it is killed if the wait is interrupted."""
        process = self._launch(command, announce=False)
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.kill()
            raise

    def start(self, command: Command) -> RemoteProcess:
        """Start a command and return once its program runs."""
        process = self._launch(command, announce=True)
        self._await(process.has_started, ANSWER_SECONDS)
        return process

    def converse(self, command: Command) -> RemoteConversation:
        """Start a command that is spoken with and return once its program runs."""
        conversation = RemoteConversation(command, self._send, self._await_end)
        conversation.launch(self._expect(conversation))
        self._await(conversation.has_started, ANSWER_SECONDS)
        return conversation

    def listen(self, port: int, serve: Serve) -> RemoteListener:
        """Listen on a port of the container's loopback, 0 for any; `serve` gets each client."""
        listener = RemoteListener(serve, self._send, self._settled)
        listener.open(self._expect(listener), port)
        try:
            self._await(listener.listens, ANSWER_SECONDS)
        except BaseException:  # an interrupt: nobody would close it
            listener.close()
            raise
        return listener

    def watch(self, files: WatchedFiles) -> None:
        """Tell the observer from now on what happens to files below folders."""
        self._execs.begin()
        lists = (files.roots, files.excluding, files.reading, files.within, files.only)
        payload = bytes(4) + b"".join(map(protocol.strings, lists))
        self._ask(Request.WATCH, payload, " ".join(files.roots))

    def settle(self) -> None:
        """Wait until the observer has been told all that has happened until now."""
        self._ask(Request.SETTLE, b"", "")
        self._execs.caught_up()

    def hurry(self) -> None:
        """Lose the session, from now on, where the supervisor says nothing for a few seconds."""
        self._patience.hurry()

    def kill_all(self, but: object = None) -> int:
        """Kill every process but the supervisor and the tree of `but`; how many were alive."""
        left = but.request if isinstance(but, RemoteConversation) else 0
        (part,) = self._ask(Request.KILL_ALL, left.to_bytes(4, "little"), "")
        return protocol.Cursor(part).u32()

    def usage(self) -> Usage:
        """What was used until now."""
        (part,) = self._ask(Request.USAGE, b"", "")
        peak, cpu, kills, processes = protocol.unpack(protocol.USAGE, part)
        return Usage(
            memory_peak_bytes=None if peak == protocol.UNKNOWN else peak,
            cpu_seconds=None if cpu == protocol.UNKNOWN else cpu / 1e6,
            processes=processes,
            out_of_memory_kills=kills,
        )

    def close(self) -> None:
        """End the stream, at which the supervisor kills everything and leaves."""
        with contextlib.suppress(OSError):
            self._stream.close()
        self._outbox.put(None)
        if threading.current_thread() is not self._reader:
            self._reader.join()
        self._execs.close()

    def _observer_failed(self, error: BaseException) -> None:
        """Nobody decides any more: the session ends, and what is held is refused."""
        if isinstance(error, ProtocolError):
            self._lose(_gone(error.message))
        else:
            self._lose(_gone(f"the observer of execs failed: {type(error).__name__}: {error}"))
        with contextlib.suppress(OSError):
            self._stream.close()

    def _greet(self, timeout: float) -> None:
        if not self._hello.settle(timeout):
            raise SessionLostError(
                f"The supervisor did not answer within {timeout:g} seconds.",
                "Run `sandbox doctor` to see whether the engine works.",
            )
        version = self.greeting.protocol
        if version != protocol.PROTOCOL_VERSION:
            raise ProtocolError(
                f"The supervisor speaks version {version} of the protocol, "
                f"this harness {protocol.PROTOCOL_VERSION}.",
                "Build the supervisor again from this checkout.",
            )

    def _launch(self, command: Command, *, announce: bool) -> RemoteProcess:
        flag = INTERCEPTION[command.interception]
        if flag and self.greeting.coverage(command.interception) == "top-level":
            return self._launch_alone(command, announce=announce)
        process = RemoteProcess(
            command, self._send, self._await_end, announce=announce, interception=flag
        )
        request = self._expect(process)
        if flag:
            self._execs.follow(request, command)
        process.launch(request)
        return process

    def _launch_alone(self, command: Command, *, announce: bool) -> RemoteProcess:
        """Let the observer decide on the command itself, where what it starts is not seen."""
        seen = top_level.execution(command)
        self._execs.begin()
        answer = self._execs.ask(seen)
        if seen.held and answer:
            raise top_level.refusal(seen, answer)
        process = RemoteProcess(
            command, self._send, self._await_end, announce=announce, interception=Run.ROOT
        )
        request = self._expect(process)
        self._alone[request] = seen
        self._execs.follow(request, command)
        process.launch(request)
        return process

    def _conclude(self, request: int, pending: Pending) -> None:
        """A request has its last frame: tell the observer first where execs belong to it."""
        seen = self._alone.pop(request, None)
        if seen is not None and isinstance(pending, RemoteProcess):
            # Behind its end whatever is known of the command: a count of execs ends that earlier.
            self._execs.conclude(seen, top_level.end(pending.completed), pending.finish)
        else:
            self._execs.after(request, pending.finish)
        if pending.failed or seen is not None:
            self._execs.forget(request)

    def _ask(self, kind: Request, payload: bytes, subject: str | bytes) -> Sequence[bytes]:
        """Send a request and wait for all parts of its answer."""
        return self._ask_for(kind, payload, subject, bytes)

    def _ask_for(
        self, kind: Request, payload: bytes, subject: str | bytes, read: Callable[[bytes], Part]
    ) -> Sequence[Part]:
        answer = Answer(subject, read)
        self._send(protocol.frame(kind, self._expect(answer), payload))
        self._settled(answer)
        return answer.parts

    def _settled(self, pending: Pending) -> None:
        self._await(pending.settle, ANSWER_SECONDS)

    def _await_end(self, process: RemoteProcess) -> None:
        """Wait for a command's end: as long as it may take, or not for long once it was killed.

        While it is silent, the supervisor is asked whether it is still there.
        """
        limit = process.command.timeout
        end = math.inf if limit is None else time.monotonic() + limit + GRACE_SECONDS
        while not process.killed and time.monotonic() < end:
            try:
                self._patience.wait(process.settle, QUIET_SECONDS)
            except Silence as silence:
                if self._patience.hurried:
                    raise self._given_up(silence) from silence
                self.usage()
            else:
                return
        self._await(process.settle, ANSWER_SECONDS)

    def _await(self, arrived: Callable[[float], bool], seconds: float | None) -> None:
        """Wait; a supervisor that says nothing at all for so long is lost."""
        try:
            self._patience.wait(arrived, seconds)
        except Silence as silence:
            raise self._given_up(silence) from silence

    def _given_up(self, silence: Silence) -> SandboxError:
        """Lose a supervisor that says nothing; give what is told of it."""
        self._lose(_gone(str(silence)))
        self.close()
        return self._lost or _gone(str(silence))

    def _expect(self, pending: Pending) -> int:
        """A request id whose frames go to `pending`."""
        with self._table:
            if self._lost is not None:
                raise self._lost.with_traceback(None)
            self._last = self._last % 0xFFFFFFFF + 1
            while self._last in self._pending:
                self._last = self._last % 0xFFFFFFFF + 1
            self._pending[self._last] = pending
            return self._last

    def _send(self, data: Outgoing) -> None:
        """Send a whole frame, or several.

        Ctrl-C comes to the main thread, between any two of its steps: half a frame would leave the
        stream useless. So that thread hands its frames to another one, which nothing interrupts.
        """
        if self._lost is not None:
            raise self._lost.with_traceback(None)
        if threading.current_thread() is threading.main_thread():
            self._outbox.put(data)
        else:
            self._put_out(data)

    def _put_out(self, data: Outgoing) -> None:
        with self._sending:
            if self._lost is not None:
                raise self._lost.with_traceback(None)
            try:
                for frame in (data,) if isinstance(data, bytes) else data:
                    self._stream.send(frame)
            except OSError as error:
                lost = _gone(str(error))
                self._lose(lost)
                raise lost from error

    def _write(self) -> None:
        """The thread that sends for the main thread; who waits for an answer is told of a loss."""
        with contextlib.suppress(SessionLostError):
            while (data := self._outbox.get()) is not None:
                self._put_out(data)

    def _read(self) -> None:
        """The reader's thread."""
        frames = protocol.FrameReader()
        try:
            while data := self._stream.receive():
                self._patience.heard()
                for kind, request, payload in frames.feed(data):
                    self._deliver(kind, request, payload)
            self._lose(_gone("it ended the connection"))
        except SessionLostError as error:
            self._lose(error)
        except SandboxError as error:
            self._lose(_gone(error.message))
        except (OSError, ValueError) as error:
            self._lose(_gone(str(error)))

    def _deliver(self, kind: Reply, request: int, payload: bytes) -> None:
        if kind is Reply.FAULT:
            text = protocol.Cursor(payload).string().decode(errors="replace")
            raise ProtocolError(f"The supervisor refused what this harness sent: {text}.")
        if kind in EXEC_KINDS:
            self._execs.take(kind, request, payload)
            return
        pending = self._hello if kind is Reply.GREETING else self._pending.get(request)
        if pending is None:
            raise ProtocolError(f"The supervisor answered what was not asked: {kind.name}.")
        if pending.take(kind, payload):
            with self._table:
                self._pending.pop(request, None)
            self._conclude(request, pending)

    def _lose(self, failure: SessionLostError) -> None:
        """Tell everybody who waits; whoever comes later is told at once."""
        with self._table:
            if self._lost is not None:
                return
            self._lost = failure
            waiting = [*self._pending.values()]
            self._pending.clear()
        if not self._hello.done:
            waiting.append(self._hello)
        for pending in waiting:
            pending.fail(failure)


class _Hello(Pending):
    """The greeting, which answers no request."""

    payload = b""

    def take(self, kind: Reply, payload: bytes) -> bool:
        """Take the greeting, once."""
        if kind is not Reply.GREETING or self.done:
            raise unexpected(kind)
        protocol.greeting(payload)
        self.payload = payload
        return True


def _gone(reason: str) -> SessionLostError:
    return SessionLostError(
        f"The connection to the supervisor is lost: {reason.rstrip('.')}.",
        "The container cannot be used any more; start a new session.",
    )
