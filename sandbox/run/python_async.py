"""The interface of `python.py` for asyncio: the same runs in the same threads."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from pydantic import JsonValue

from sandbox.agents.function_agent import World
from sandbox.agents.tools import Shape
from sandbox.agents.typed_actions import TypedActions
from sandbox.model.briefing import Briefing, Reply
from sandbox.model.usage import ModelUsage
from sandbox.rules.policy.approvers import Approver
from sandbox.run.outcome import Outcome
from sandbox.run.python import OpenWorld, evaluate, open_world

P = ParamSpec("P")
T = TypeVar("T")


class _Thread:
    """One thread in which calls are made one after the other, while the event loop goes on."""

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.wrap_future(self.submit(function, *args, **kwargs))

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        return self._pool.submit(function, *args, **kwargs)

    def close(self) -> None:
        self._pool.shutdown(wait=False)


class AsyncWorld(TypedActions[Coroutine[Any, Any, Reply]]):
    """A world whose actions are awaited. Those of one world take turns, worlds do not wait."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._thread = _Thread("world")

    @property
    def briefing(self) -> Briefing:
        """What the agent is told."""
        return self._world.briefing

    @property
    def prompt(self) -> str:
        """What the agent is asked to do, with the title before it."""
        return self._world.prompt

    @property
    def over(self) -> bool:
        """Whether the run has ended: by an answer, by a limit, or from outside."""
        return self._world.over

    def tools(self, shape: Shape = "openai") -> list[dict[str, JsonValue]]:
        """Return the actions as tools of a model; the final answer has the task's fields."""
        return self._world.tools(shape)

    def close(self) -> None:
        """Give its thread back, when nothing is awaited any more."""
        self._thread.close()

    async def step(
        self,
        action: str,
        arguments: Mapping[str, JsonValue] | None = None,
        /,
        usage: ModelUsage | None = None,
        **named: JsonValue,
    ) -> Reply:
        """Perform an action and await what comes of it."""
        return await self._thread.call(self._world.step, action, arguments, usage, **named)


class AsyncOpenWorld(AsyncWorld):
    """An open world, entered by `async with`, which begins the run and ends and grades it."""

    def __init__(self, start: Callable[[], OpenWorld]) -> None:
        self._start = start
        self._thread = _Thread("world")

    @property
    def outcome(self) -> Outcome | None:
        """What it came to, once it is finished."""
        return self._open.outcome

    async def finish(
        self, fields: Mapping[str, JsonValue] | None = None, note: str = ""
    ) -> Outcome:
        """Give the final answer, if there is one to give, and await the grade."""
        return await self._thread.call(self._open.finish, fields, note)

    async def __aenter__(self) -> Self:
        starting = self._thread.submit(self._start)
        try:
            self._open = await asyncio.wrap_future(starting)
        except BaseException:
            starting.add_done_callback(_unwanted)  # it goes on where only the waiting was cancelled
            self.close()
            raise
        self._world = self._open
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, asyncio.CancelledError):
            await self.interrupt()
            return
        try:
            await self._thread.call(self._open.__exit__, kind, error, trace)
        finally:
            self.close()

    async def interrupt(self) -> None:
        """End the run at once, with the action under way, and without a verdict."""
        other = _Thread("interrupt")  # its own thread may be waiting for that action
        try:
            await other.call(self._open.interrupt)
        finally:
            other.close()
            self.close()


def _unwanted(starting: Future[OpenWorld]) -> None:
    """End a run that began when nobody waited for it any more."""
    if not starting.cancelled() and starting.exception() is None:
        starting.result().interrupt()


AsyncFunction = Callable[[AsyncWorld], Awaitable[Mapping[str, JsonValue] | None]]
"""Acts in a world; what it gives is the final answer's fields, None where it has none to give."""


def open_async(
    task: str,
    *,
    name: str = "python",
    approver: Approver | None = None,
    runs: str | Path | None = None,
) -> AsyncOpenWorld:
    """Open a task as `open` does, by `async with`."""
    return AsyncOpenWorld(
        functools.partial(open_world, task, name=name, approver=approver, runs=runs)
    )


async def evaluate_async(
    tasks: str | Sequence[str],
    agent: AsyncFunction,
    *,
    trials: int = 1,
    jobs: int = 1,
    name: str = "",
    approver: Callable[[], Approver] | None = None,
    runs: str | Path | None = None,
) -> list[Outcome]:
    """Let a coroutine act as `evaluate` lets a function, in the event loop that runs now."""
    loop = asyncio.get_running_loop()

    @functools.wraps(agent)  # it is the agent's name and source that runs are counted by
    def function(world: World) -> Mapping[str, JsonValue] | None:
        return asyncio.run_coroutine_threadsafe(_act(agent, world), loop).result()

    work = _Thread("evaluate")
    try:
        return await work.call(
            evaluate,
            tasks,
            function,
            trials=trials,
            jobs=jobs,
            name=name,
            approver=approver,
            runs=runs,
        )
    finally:
        work.close()


async def _act(agent: AsyncFunction, world: World) -> Mapping[str, JsonValue] | None:
    facing = AsyncWorld(world)
    try:
        return await agent(facing)
    finally:
        facing.close()
