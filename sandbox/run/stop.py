"""Ends runs that go on in other threads, as Ctrl-C ends the one of the main thread.

An interrupt reaches only the main thread. The runs of the others get engines and agents that raise
KeyboardInterrupt at the next call once `Stop.request` was called; what they wait for is killed.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import Any, ParamSpec, TypeVar, cast

from sandbox.agents.base import Agent, Garbage, Wrapped
from sandbox.container.engines.base import Engine, Session, SessionSpec
from sandbox.model.action import Request
from sandbox.model.briefing import Briefing, Reply
from sandbox.model.errors import SandboxError

P = ParamSpec("P")
T = TypeVar("T")

SLICE_SECONDS = 0.1
"""How long an agent is waited for before looking whether it is still wanted."""

PATIENCE_SECONDS = 0.2
"""How often what goes on after an interrupt is asked to end."""

PUTS_AWAY = frozenset(
    ("disk", "entry", "hurry", "kill_all", "usage", "containers", "remove_container")
)
"""Methods of sessions and engines that work after a request to end."""


class Stop:
    """A request to end, which several threads see."""

    def __init__(self) -> None:
        self._requested = threading.Event()
        self._lock = threading.Lock()
        self._sessions: dict[int, Session] = {}

    def request(self) -> None:
        """End what is going on; to be repeated until nothing is, for a command may just begin."""
        self._requested.set()
        with self._lock:
            sessions = list(self._sessions.values())
        for session in sessions:
            session.hurry()
            with contextlib.suppress(SandboxError):
                session.kill_all()

    def finish(self, futures: Sequence[Future[T]]) -> None:
        """Begin none of some works that has not begun, and end those that go on."""
        for future in futures:
            future.cancel()
        pending = {future for future in futures if not future.done()}
        while pending:
            self.request()
            _, pending = wait(pending, PATIENCE_SECONDS)

    def check(self) -> None:
        """Raise KeyboardInterrupt once the end was requested."""
        if self._requested.is_set():
            raise KeyboardInterrupt

    def guard(self, call: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """Call something; what comes of it after the request is not used, errors included."""
        self.check()
        try:
            return call(*arguments, **options)
        finally:
            self.check()

    def engine(self, engine: Engine) -> Engine:
        """Make an engine stoppable; closing it is left to its owner."""
        return cast(Engine, _StoppableEngine(engine, self))

    def agent(self, agent: Agent) -> Agent:
        """Make an agent stoppable."""
        return _StoppableAgent(agent, self)

    def opened(self, session: Session) -> None:
        """Note a session that is to be killed in."""
        with self._lock:
            self._sessions[id(session)] = session

    def closed(self, session: Session) -> None:
        """Forget a session."""
        with self._lock:
            self._sessions.pop(id(session), None)


class _Stoppable:
    """Passes everything on, and nothing that begins something once the end was requested."""

    def __init__(self, inner: object, stop: Stop) -> None:
        self._inner = inner
        self._stop = stop

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the contract has
        found = getattr(self._inner, name)
        if not callable(found) or name in PUTS_AWAY:
            return found
        return partial(self._stop.guard, found)


class _StoppableSession(_Stoppable):
    """Fulfils `Session`."""

    def close(self) -> None:
        """End the session and remove its container."""
        session = cast(Session, self._inner)
        try:
            session.close()
        finally:
            self._stop.closed(session)

    def __enter__(self) -> "_StoppableSession":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _StoppableEngine(_Stoppable):
    """Fulfils `Engine`."""

    def start(self, spec: SessionSpec) -> Session:
        """Start a container, unless nothing is to be started any more."""
        self._stop.check()
        inner = cast(Engine, self._inner).start(spec)
        self._stop.opened(inner)
        session = _StoppableSession(inner, self._stop)
        try:
            self._stop.check()
        except KeyboardInterrupt:
            session.close()
            raise
        return cast(Session, session)

    def close(self) -> None:
        """Leave the engine open for the others."""


class _StoppableAgent(Wrapped):
    """An agent that is not waited for any longer than it is wanted."""

    def __init__(self, agent: Agent, stop: Stop) -> None:
        super().__init__(agent)
        self._stop = stop

    def begin(self, briefing: Briefing) -> None:
        """Start, unless nothing is to be started any more."""
        self._stop.check()
        super().begin(briefing)

    def next(self, reply: Reply | None, timeout: float) -> Request | Garbage | None:
        """Wait in slices, so that a request to stop is seen."""
        deadline = time.monotonic() + timeout
        while True:
            self._stop.check()
            left = deadline - time.monotonic()
            try:
                return super().next(reply, min(SLICE_SECONDS, max(0.0, left)))
            except TimeoutError as error:
                reply = None
                if left <= SLICE_SECONDS:
                    message = f"The agent sent nothing for {timeout:.0f} seconds."
                    raise TimeoutError(message) from error
