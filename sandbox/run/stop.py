"""Ends runs that go on in other threads, as Ctrl-C ends the one of the main thread.

An interrupt reaches only the main thread. The runs of the others get engines and agents that raise
KeyboardInterrupt at the next call once `Stop.request` was called; what they wait for is killed.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import Concatenate, Generic, ParamSpec, Self, TypeVar

from sandbox.agents.base import Agent, Garbage, Wrapped
from sandbox.container.engines.base import Engine, Session, SessionSpec
from sandbox.model.action import Request
from sandbox.model.briefing import Briefing, Reply
from sandbox.model.errors import SandboxError
from sandbox.model.session import Greeting

Inner = TypeVar("Inner")
P = ParamSpec("P")
T = TypeVar("T")

SLICE_SECONDS = 0.1
"""How long an agent is waited for before looking whether it is still wanted."""

PATIENCE_SECONDS = 0.2
"""How often what goes on after an interrupt is asked to end."""


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
        self.request()
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

    def waiting(self, call: Callable[P, T]) -> Callable[P, T]:
        """Make a call one that is not waited for any longer than it is wanted.

        It goes on in a thread of its own then, which ends with the process.
        """

        def waited(*arguments: P.args, **options: P.kwargs) -> T:
            done: Future[T] = Future()

            def work() -> None:
                try:
                    done.set_result(call(*arguments, **options))
                except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
                    done.set_exception(error)

            self.check()
            threading.Thread(target=work, name="waited for", daemon=True).start()
            while True:
                try:
                    return done.result(SLICE_SECONDS)
                except TimeoutError:
                    if done.done():
                        raise
                    self.check()

        return waited

    def engine(self, engine: Engine) -> Engine:
        """Make an engine stoppable; closing it is left to its owner."""
        return _StoppableEngine(engine, self)

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


class _Stoppable(Generic[Inner]):
    """Stands in for an engine or a session, each of whose methods is named below."""

    def __init__(self, inner: Inner, stop: Stop) -> None:
        self.inner = inner
        self.stop = stop


def _passed_on(
    method: Callable[Concatenate[Inner, P], T], *, always: bool = False
) -> Callable[Concatenate[_Stoppable[Inner], P], T]:
    """Make a method that begins nothing once the end was requested.

    With `always` it works after that as well: it puts away, or only tells.
    """

    def call(self: _Stoppable[Inner], /, *arguments: P.args, **options: P.kwargs) -> T:
        inner: Callable[P, T] = getattr(self.inner, method.__name__)
        if always:
            return inner(*arguments, **options)
        return self.stop.guard(inner, *arguments, **options)

    return call


class _StoppableSession(_Stoppable[Session]):
    """Fulfils `Session`, which the type checker holds it to."""

    on_exec = _passed_on(Session.on_exec)
    watch = _passed_on(Session.watch)
    settle = _passed_on(Session.settle)
    run = _passed_on(Session.run)
    start = _passed_on(Session.start)
    converse = _passed_on(Session.converse)
    read = _passed_on(Session.read)
    write = _passed_on(Session.write)
    remove = _passed_on(Session.remove)
    stat = _passed_on(Session.stat)
    list = _passed_on(Session.list)
    manifest = _passed_on(Session.manifest)
    listen = _passed_on(Session.listen)
    overlay = _passed_on(Session.overlay)
    entry = _passed_on(Session.entry, always=True)
    hurry = _passed_on(Session.hurry, always=True)
    kill_all = _passed_on(Session.kill_all, always=True)
    usage = _passed_on(Session.usage, always=True)
    disk = _passed_on(Session.disk, always=True)

    @property
    def container(self) -> str:
        """The engine's name for the container."""
        return self.inner.container

    @property
    def greeting(self) -> Greeting:
        """What the supervisor said first."""
        return self.inner.greeting

    def close(self) -> None:
        """End the session and remove its container."""
        try:
            self.inner.close()
        finally:
            self.stop.closed(self.inner)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _StoppableEngine(_Stoppable[Engine]):
    """Fulfils `Engine`, which the type checker holds it to."""

    free_bytes = _passed_on(Engine.free_bytes)
    info = _passed_on(Engine.info)
    image = _passed_on(Engine.image)
    images = _passed_on(Engine.images)
    pull = _passed_on(Engine.pull)
    bridged = _passed_on(Engine.bridged)
    build = _passed_on(Engine.build)
    import_image = _passed_on(Engine.import_image)
    save = _passed_on(Engine.save)
    load = _passed_on(Engine.load)
    remove_image = _passed_on(Engine.remove_image)
    containers = _passed_on(Engine.containers, always=True)
    remove_container = _passed_on(Engine.remove_container, always=True)

    def start(self, spec: SessionSpec) -> Session:
        """Start a container, unless nothing is to be started any more."""
        self.stop.check()
        inner = self.inner.start(spec)
        self.stop.opened(inner)
        session = _StoppableSession(inner, self.stop)
        try:
            self.stop.check()
        except KeyboardInterrupt:
            session.close()
            raise
        return session

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
