"""The process that keeps an open session: one whole run, whose actions its callers ask for.

Started by `sandbox open` as `python -m sandbox.cli.session_process` and left to itself, in a
session of its own that no terminal ends. It reads its order from standard input and prints its
news, a line of JSON each, until the first action can be asked for.
"""

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from sandbox.agents.call_server import CallServer
from sandbox.agents.called_agent import CalledAgent
from sandbox.cli import interrupts
from sandbox.cli.approver import choose_approver
from sandbox.cli.crash import told
from sandbox.model.base import Record
from sandbox.model.briefing import Briefing
from sandbox.model.errors import SandboxError
from sandbox.model.event import Entry
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from sandbox.run.judged_trial import perform
from sandbox.run.trial import Trial
from sandbox.tasks.library import LoadedTask


class Order(Record):
    """What is to be kept."""

    task: str
    runs: str
    """The store's folder, absolute."""
    name: str
    """What the trace calls the callers."""
    approver: str
    idle: float | None
    """Seconds without a call until the run ends; the task's own limit where it is None."""


class Stage(Record):
    """Something that takes a moment has begun."""

    kind: Literal["stage"] = "stage"
    text: str


class Ready(Record):
    """Actions can be asked for."""

    kind: Literal["ready"] = "ready"
    briefing: Briefing


class Failed(Record):
    """There is no session."""

    kind: Literal["failed"] = "failed"
    message: str
    next_step: str
    exit_code: int


News = Annotated[Stage | Ready | Failed, Field(discriminator="kind")]
NEWS: TypeAdapter[Stage | Ready | Failed] = TypeAdapter(News)


def keep(order: Order, tell: Callable[[News], None]) -> None:
    """Run the task for whoever calls, and grade what they did."""
    from sandbox.container import engines
    from sandbox.model import places
    from sandbox.tasks import library
    from sandbox.tasks.images import Images

    loaded = _limited(library.load(order.task), order.idle)
    approver = choose_approver(order.approver, loaded.task)
    servers: list[CallServer] = []

    def agent(folder: RunFolder) -> CalledAgent:
        def begun(briefing: Briefing) -> None:
            servers.append(CallServer(folder.calls, made))
            tell(Ready(briefing=briefing))

        made = CalledAgent(order.name, begun)
        return made

    engine = engines.connect()
    try:
        image = Images(engine, places.cache()).ensure(loaded, lambda text: tell(Stage(text=text)))
        trial = Trial(task=loaded, image=image, agent=agent, approver=approver)
        perform(trial, engine, Store(Path(order.runs)), _Telling(tell))
    finally:
        for server in servers:
            server.close()
        engine.close()


def _limited(loaded: LoadedTask, idle: float | None) -> LoadedTask:
    """Give the agent's silence another limit; the briefing says so, grading does not ask."""
    if idle is None:
        return loaded
    limits = loaded.task.limits.model_copy(update={"silence_seconds": idle})
    return replace(loaded, task=loaded.task.model_copy(update={"limits": limits}))


class _Telling:
    """Tells of a trial's stages; a caller sees its own actions."""

    def __init__(self, tell: Callable[[News], None]) -> None:
        self._tell = tell

    def stage(self, text: str) -> None:
        """Tell it."""
        self._tell(Stage(text=text))

    def entry(self, entry: Entry) -> None:
        """Say nothing."""


class _Opener:
    """Whoever ordered the session, until it is ready or they are gone."""

    def tell(self, news: News) -> None:
        """Print it, to be read at once; after the last news nothing is printed any more."""
        try:
            sys.stdout.write(news.model_dump_json() + "\n")
            sys.stdout.flush()
        except BrokenPipeError:
            self._leave()
        if not isinstance(news, Stage):
            self._leave()

    def _leave(self) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def main() -> None:
    """Keep one session and exit, as `sandbox run` would."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    interrupts.Interrupts().install()
    opener = _Opener()
    try:
        keep(Order.model_validate_json(sys.stdin.buffer.read()), opener.tell)
    except KeyboardInterrupt:
        sys.exit(interrupts.EXIT_CODE)
    except SandboxError as error:
        opener.tell(
            Failed(message=error.message, next_step=error.next_step, exit_code=error.exit_code)
        )
        sys.exit(error.exit_code)
    except Exception as error:  # noqa: BLE001 - the last place where anything can be said of it
        known = told(error)
        opener.tell(Failed(message=known.message, next_step=known.next_step, exit_code=3))
        sys.exit(3)


if __name__ == "__main__":
    main()
