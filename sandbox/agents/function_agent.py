"""An agent that is a function of this process: it gets a world, and acts in it by calls."""

import threading
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path

from pydantic import JsonValue

from sandbox.agents.called_agent import CalledAgent
from sandbox.agents.tools import Shape, described
from sandbox.agents.typed_actions import TypedActions
from sandbox.model.action import FinalAnswer
from sandbox.model.briefing import Briefing, Reply
from sandbox.model.errors import ModelError, UsageError
from sandbox.model.observation import ErrorCode
from sandbox.model.usage import ModelUsage


class World(TypedActions[Reply]):
    """What is to be done, and the actions by which it can be done, each a method."""

    def __init__(self, agent: CalledAgent, briefing: Briefing) -> None:
        self.briefing = briefing
        self.over = False
        """Whether the run has ended: by an answer, by a limit, or from outside."""
        self._agent = agent

    @property
    def prompt(self) -> str:
        """What the agent is asked to do, with the title before it."""
        return f"{self.briefing.title}\n\n{self.briefing.prompt}"

    def step(
        self,
        action: str,
        arguments: Mapping[str, JsonValue] | None = None,
        /,
        usage: ModelUsage | None = None,
        **named: JsonValue,
    ) -> Reply:
        """Perform an action and wait for what comes of it, from any thread.

        Arguments are given as a mapping, by name, or both. What is refused is a reply like any
        other: `status` is `error`, and `error_code` says why. After the end it is `run_over`.
        """
        reply = self._agent.call(action, {**(arguments or {}), **named}, usage)
        answered = action == FinalAnswer.name and reply.status == "ok"
        self.over = self.over or answered or reply.error_code is ErrorCode.RUN_OVER
        return reply

    def tools(self, shape: Shape = "openai") -> list[dict[str, JsonValue]]:
        """Return the actions as tools of a model; the final answer has the task's fields."""
        return described(self.briefing, shape)


Function = Callable[[World], Mapping[str, JsonValue] | None]
"""Acts in a world; what it returns is the final answer's fields, None where it has none to give."""


class FunctionAgent(CalledAgent):
    """Lets a function act, in a thread of its own."""

    def __init__(self, function: Function, name: str, log: Path | None = None) -> None:
        super().__init__(name)
        self._function = function
        self._log = log

    def begin(self, briefing: Briefing) -> None:
        """Start the function."""
        work = threading.Thread(target=self._work, args=(briefing,), name="agent", daemon=True)
        work.start()

    def _work(self, briefing: Briefing) -> None:
        world = World(self, briefing)
        try:
            fields = self._function(world)
            if fields is not None:
                reply = world.step(FinalAnswer.name, fields=_by_name(fields))
                if reply.status == "error" and not world.over:
                    self.leave(
                        f"The agent returned other fields than it was asked for: {reply.message}"
                    )
        except ModelError as error:  # it asks not to be counted
            self.fail(error)
        except BaseException as error:  # noqa: BLE001 - whatever the function does, the run ends
            self._note(traceback.format_exc())
            self.crash(error)
        else:
            self.leave("The agent returned without an answer.")

    def _note(self, text: str) -> None:
        if self._log is not None:
            self._log.write_text(text, encoding="utf-8", errors="replace")


def _by_name(fields: object) -> dict[str, JsonValue]:
    """Give what a function returned as fields; UsageError where it is something else."""
    if isinstance(fields, Mapping):
        return {**fields}
    what = f"The function returned {type(fields).__name__}"
    raise UsageError(f"{what}, where fields by their names are wanted, or None.")
