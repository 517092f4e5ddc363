"""A container sandbox that evaluates coding agents on the path they take.

    with sandbox.open("humanize/file-sizes") as world:
        world.step("run_command", command="ls")

docs/python.md describes `open`, `evaluate` and what they give.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from sandbox.model.version import VERSION

if TYPE_CHECKING:
    from sandbox.agents.function_agent import World
    from sandbox.run.chat_environment import ChatEnvironment
    from sandbox.run.conversation import messages
    from sandbox.run.outcome import Outcome
    from sandbox.run.pool import Pool
    from sandbox.run.python import OpenWorld, evaluate
    from sandbox.run.python import open_world as open  # noqa: A004 - it is `sandbox.open`
    from sandbox.run.python_async import AsyncOpenWorld, AsyncWorld, evaluate_async, open_async

__version__ = VERSION

__all__ = [
    "AsyncOpenWorld",
    "AsyncWorld",
    "ChatEnvironment",
    "OpenWorld",
    "Outcome",
    "Pool",
    "World",
    "__version__",
    "evaluate",
    "evaluate_async",
    "messages",
    "open",
    "open_async",
]

_PLACES = {
    "AsyncOpenWorld": ("sandbox.run.python_async", "AsyncOpenWorld"),
    "AsyncWorld": ("sandbox.run.python_async", "AsyncWorld"),
    "ChatEnvironment": ("sandbox.run.chat_environment", "ChatEnvironment"),
    "OpenWorld": ("sandbox.run.python", "OpenWorld"),
    "Outcome": ("sandbox.run.outcome", "Outcome"),
    "Pool": ("sandbox.run.pool", "Pool"),
    "World": ("sandbox.agents.function_agent", "World"),
    "evaluate": ("sandbox.run.python", "evaluate"),
    "evaluate_async": ("sandbox.run.python_async", "evaluate_async"),
    "messages": ("sandbox.run.conversation", "messages"),
    "open": ("sandbox.run.python", "open_world"),
    "open_async": ("sandbox.run.python_async", "open_async"),
}
"""Imported when they are first asked for, so that the command line starts quickly."""


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _PLACES[name]
    return getattr(import_module(module), attribute)
