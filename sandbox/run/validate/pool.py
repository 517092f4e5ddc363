"""Works in threads that share an engine, ended together by an interrupt."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from sandbox.container.engines.base import Engine
from sandbox.run.stop import Stop

P = ParamSpec("P")
T = TypeVar("T")


class Pool:
    """Does works with an engine, several at once, until the `with` is left.

    Whatever is raised inside of it ends those that go on, and begins no further one.
    """

    def __init__(self, engine: Engine, at_once: int) -> None:
        self._stop = Stop()
        self._engine = self._stop.engine(engine)
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="validate")
        self._futures: list[Future[Any]] = []

    def submit(
        self, work: Callable[Concatenate[Engine, P], T], *arguments: P.args, **options: P.kwargs
    ) -> Future[T]:
        """Do a work when its turn comes."""
        future = self._threads.submit(work, self._engine, *arguments, **options)
        self._futures.append(future)
        return future

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._stop.finish(self._futures)
        self._threads.shutdown()
