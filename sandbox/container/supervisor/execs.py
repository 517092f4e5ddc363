"""Execs that a supervisor tells of: from frames to an observer, in a thread of their own."""

import errno
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass

from sandbox.container.supervisor import protocol
from sandbox.container.supervisor.protocol import Execution, Outcome, Reply, Request
from sandbox.model.errors import ProtocolError, SandboxError
from sandbox.model.session import (
    Command,
    Exec,
    ExecEnd,
    ExecObserver,
    ExecOutcome,
    Touch,
    TouchKind,
)

EXEC_KINDS = frozenset(
    (Reply.EXEC_SEEN, Reply.EXEC_HELD, Reply.EXEC_ENDED, Reply.EXEC_COUNT, Reply.TOUCHED)
)

PATIENCE = 10.0
"""Seconds that the end of a session waits for an observer that does not return."""

OUTCOMES: dict[int, ExecOutcome] = {
    outcome: ExecOutcome(outcome.name.lower()) for outcome in Outcome
}
REASON = 250
"""Characters of a reason that `sudo` prints."""


@dataclass(frozen=True, slots=True)
class _Frame:
    kind: Reply
    request: int
    payload: bytes


class Execs:
    """Calls the observer for each frame, in order; begins with the first command that it follows.

    `send` takes a frame to the supervisor. `fail` is told what the observer raised.
    """

    def __init__(
        self, send: Callable[[bytes], None], fail: Callable[[BaseException], None]
    ) -> None:
        self.observer: ExecObserver | None = None
        self._send, self._fail = send, fail
        self._tags: dict[int, str] = {}
        self._untold: dict[int, int] = {}
        self._told: dict[int, int] = {}
        self._open: dict[int, Exec] = {}
        self._queue: queue.SimpleQueue[_Frame | Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def begin(self) -> None:
        """Start the thread, if that has not been done."""
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._work, name="supervisor-execs", daemon=True
                )
                self._thread.start()

    def follow(self, request: int, command: Command) -> None:
        """Take the frames of a command from now on."""
        self._tags[request] = command.tag
        self.begin()

    def take(self, kind: Reply, request: int, payload: bytes) -> None:
        """Take a frame; the reader's thread calls."""
        self._queue.put(_Frame(kind, request, payload))

    def after(self, request: int, action: Callable[[], None]) -> None:
        """Do something once the observer has been told all that came before of this command."""
        if request in self._tags:
            self._queue.put(action)
        else:
            action()

    def caught_up(self) -> None:
        """Wait until the observer has been told all that came until now."""
        if self._thread is None:
            return
        told: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._queue.put(lambda: told.put(None))
        told.get()

    def conclude(self, execution: Exec, end: ExecEnd, action: Callable[[], None]) -> None:
        """Tell the end of what `ask` was about, then do something."""
        self._queue.put(lambda: self._conclude(execution, end))
        self._queue.put(action)

    def _conclude(self, execution: Exec, end: ExecEnd) -> None:
        if self.observer is not None:
            self.observer.ended(execution, end)

    def ask(self, execution: Exec) -> int:
        """Have the observer decide on an exec that no supervisor sees, and wait for that."""
        answer: queue.SimpleQueue[int] = queue.SimpleQueue()
        held = errno.EPERM if execution.held else 0

        def decide() -> None:
            observer = self.observer
            try:
                answer.put(held if observer is None else observer.seen(execution))
            except Exception as error:  # noqa: BLE001 - whatever the observer raised is told
                answer.put(errno.EPERM)
                self._fail(error)

        self._queue.put(decide)
        return answer.get()

    def forget(self, request: int) -> None:
        """A command could not be started."""
        self._tags.pop(request, None)

    def close(self) -> None:
        """End the thread; what is in its queue is dealt with first."""
        with self._starting:
            thread, self._thread = self._thread, None
        if thread is None:
            return
        self._queue.put(None)
        if thread is not threading.current_thread():
            thread.join(PATIENCE)

    def _work(self) -> None:
        failed = False
        while (item := self._queue.get()) is not None:
            try:
                if not isinstance(item, _Frame):
                    item()
                elif not failed:
                    self._handle(item)
            except BaseException as error:  # noqa: BLE001 - whatever the observer raised is told
                # An interrupt among it, which ends runs of other threads: without this thread
                # nobody would answer for what is held.
                failed = True
                self._fail(error)

    def _handle(self, frame: _Frame) -> None:
        if frame.kind is Reply.EXEC_ENDED:
            self._ended(frame.payload)
        elif frame.kind is Reply.EXEC_COUNT:
            self._counted(frame)
        elif frame.kind is Reply.TOUCHED:
            if self.observer is not None:
                self.observer.touched(touch_of(frame.payload))
        else:
            self._seen(frame)

    def _seen(self, frame: _Frame) -> None:
        execution = execution_of(frame.payload, self._tags.get(frame.request, ""), frame.kind)
        self._told[frame.request] = self._told.get(frame.request, 0) + 1
        if not execution.problem:
            self._open[execution.number] = execution
        held = frame.kind is Reply.EXEC_HELD
        answer = errno.EPERM if held else 0
        if self.observer is not None:
            answer = self.observer.seen(execution)
        if held:
            reason = ""
            if answer and execution.privileged and self.observer is not None:
                reason = self.observer.reason(execution).replace("\0", "")[:REASON]
            payload = execution.number.to_bytes(8, "little") + answer.to_bytes(4, "little")
            payload += protocol.string(reason)
            self._tell(protocol.frame(Request.ANSWER_EXEC, frame.request, payload))

    def _tell(self, frame: bytes) -> None:
        try:
            self._send(frame)
        except SandboxError:
            return  # the session is lost, which whoever waits for the command is told

    def _ended(self, payload: bytes) -> None:
        number, outcome, code, signal, duration = protocol.unpack(protocol.EXEC_ENDED, payload)
        execution = self._open.pop(number, None)
        if execution is None or outcome not in OUTCOMES:
            raise ProtocolError(f"The supervisor told end {outcome} of the exec {number}.")
        end = ExecEnd(
            outcome=OUTCOMES[outcome],
            exit_code=None if code == protocol.NO_EXIT_CODE else code,
            signal=signal or None,
            seconds=duration / 1e6,
        )
        if self.observer is not None:
            self.observer.ended(execution, end)

    def _counted(self, frame: _Frame) -> None:
        """Compare what there was with what was told: more of it, or nobody knows of what."""
        seen, untold, over = protocol.unpack(protocol.EXEC_COUNT, frame.payload)
        tag = self._tags.get(frame.request, "")
        more = untold - self._untold.pop(frame.request, 0)
        missing = seen - untold - self._told.pop(frame.request, 0)
        if not over:
            self._untold[frame.request] = untold
            self._told[frame.request] = seen - untold
        if self.observer is not None:
            if more:
                self.observer.lost(tag, more)
            if missing:
                self.observer.lost(tag, missing, unseen=True)
        if over:
            # Last of all: from here on nobody waits for this thread any more (`after`).
            self._tags.pop(frame.request, None)


def execution_of(payload: bytes, tag: str, kind: Reply) -> Exec:
    """What a frame says of an exec; ProtocolError where it is too short."""
    head = payload[: protocol.EXEC.size]
    number, flags, problem, pid, parent, uid, count = protocol.unpack(protocol.EXEC, head)
    cursor = protocol.Cursor(payload[protocol.EXEC.size :])
    program, resolved, cwd = cursor.string(), cursor.string(), cursor.string()
    arguments = tuple(cursor.string() for _ in range(cursor.u32()))
    environment = tuple(cursor.string() for _ in range(cursor.u32()))
    return Exec(
        number=number,
        tag=tag,
        program=program,
        resolved=resolved,
        arguments=arguments,
        argument_count=count,
        truncated=bool(flags & Execution.TRUNCATED),
        cwd=cwd,
        pid=pid,
        parent=parent,
        uid=uid,
        held=kind is Reply.EXEC_HELD,
        first=bool(flags & Execution.FIRST),
        environment=environment,
        environment_truncated=bool(flags & Execution.VARIABLES_CUT),
        privileged=bool(flags & Execution.PRIVILEGED),
        problem=problem,
    )


def touch_of(payload: bytes) -> Touch:
    """What a frame says of a watched path; ProtocolError where it says nothing that is known."""
    size = protocol.TOUCHED.size
    if len(payload) < size:
        raise ProtocolError("The supervisor sent a frame that is too short.")
    what, mode, changed, digest = protocol.TOUCHED.unpack(payload[:size])
    cursor = protocol.Cursor(payload[size:])
    try:
        kind = TouchKind(protocol.Touched(what).name.lower())
    except ValueError:
        raise ProtocolError(f"The supervisor told of an unknown kind {what} of touch.") from None
    path, head = cursor.string(), cursor.string()
    text = "" if digest == protocol.NO_DIGEST else digest.hex()
    return Touch(kind, path, mode & 0o177777, text, head, changed)
