"""Tasks as an environment of chats, for trainers: prompts, tools, answers to calls, rewards.

The names are those of `MultiTurnEnv` as the package verifiers had it until 0.1.5 (a dataset of
prompts, `setup_state`, `env_response`, `is_completed`), with a reward of what came of it. Messages
are those of OpenAI's chat interface. Everything is synchronous; any number of states may be under
way in threads.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypedDict

from pydantic import JsonValue

from sandbox.agents.messages import Message
from sandbox.agents.requests import decode_object
from sandbox.agents.tools import NO_TOOL
from sandbox.run.outcome import Outcome
from sandbox.run.python import OpenWorld, open_world
from sandbox.tasks import choice

PATIENCE = 3
"""Messages in a row without a call that can be read, after which the model has given up."""

Tools = list[dict[str, JsonValue]]
Complete = Callable[[list[Message], Tools], Message]
"""A model: takes the messages until now and the tools, and gives its next message."""


class Row(TypedDict):
    """What a rollout begins with."""

    task: str
    prompt: list[Message]
    info: dict[str, JsonValue]
    """Facet and tags."""


class Rollout(TypedDict):
    """What came of one."""

    task: str
    prompt: list[Message]
    completion: list[Message]
    reward: float | None
    rewards: dict[str, float]
    verdict: str
    run: str


class State:
    """A rollout that goes on."""

    def __init__(self, world: OpenWorld) -> None:
        self.world = world
        self.tools: Tools = world.tools("openai")
        self.silent = 0
        """Messages in a row without a call that could be read."""

    @property
    def outcome(self) -> Outcome | None:
        """What it came to, once it is finished."""
        return self.world.outcome


class ChatEnvironment:
    """An environment over tasks, named as for `sandbox run`: names, variants, patterns, suites."""

    def __init__(
        self, tasks: str | Sequence[str], *, name: str = "python", runs: str | Path | None = None
    ) -> None:
        """`name` is what reports call the model, `runs` where runs are kept."""
        words = [tasks] if isinstance(tasks, str) else list(tasks)
        self._name, self._runs = name, runs
        self._going_on: set[State] = set()
        self.dataset: list[Row] = [
            {
                "task": each.task.id,
                "prompt": [{"role": "user", "content": f"{each.task.title}\n\n{each.task.prompt}"}],
                "info": {"facet": each.task.facet, "tags": [*each.task.tags]},
            }
            for each in choice.chosen(words)
        ]

    def setup_state(self, row: Row) -> State:
        """Open the row's world; `release` or `score` ends it."""
        return State(open_world(row["task"], name=self._name, runs=self._runs))

    def env_response(self, messages: Sequence[Message], state: State) -> list[Message]:
        """Do what the last message calls for, call after call, and give what the model is told."""
        asked = messages[-1].get("tool_calls")
        told: list[Message] = []
        state.silent += 1
        for call in asked if isinstance(asked, list) else ():
            if not isinstance(call, dict):
                continue
            read = _read(call)
            if not isinstance(read, str):
                state.silent = 0
            said = read if isinstance(read, str) else _done(state.world, *read)
            told.append({"role": "tool", "tool_call_id": call.get("id"), "content": said})
        return told or [{"role": "user", "content": NO_TOOL}]

    def is_completed(self, messages: Sequence[Message], state: State) -> bool:
        """Tell whether the run is over, or the model has stopped calling tools."""
        del messages
        return state.world.over or state.silent >= PATIENCE or state.outcome is not None

    def score(self, state: State) -> Outcome:
        """End the run and grade it."""
        return state.world.finish()

    def release(self, state: State) -> None:
        """End a run that nobody scores, at once and without a verdict."""
        if state.outcome is None:
            state.world.interrupt()

    def rollout(self, complete: Complete, row: Row) -> Rollout:
        """Let a model act until the run is over; raises what the model or the machinery raises."""
        state = self.setup_state(row)
        self._going_on.add(state)
        messages = list(row["prompt"])
        try:
            while not self.is_completed(messages, state):
                messages.append(complete(messages, state.tools))
                messages += self.env_response(messages, state)
            outcome = self.score(state)
        except BaseException:
            self.release(state)
            raise
        finally:
            self._going_on.discard(state)
        return {
            "task": row["task"],
            "prompt": row["prompt"],
            "completion": messages[len(row["prompt"]) :],
            "reward": outcome.reward,
            "rewards": outcome.rewards,
            "verdict": outcome.verdict.value,
            "run": outcome.run,
        }

    def rollouts(
        self, complete: Complete, rows: Sequence[Row] | None = None, at_once: int = 2
    ) -> list[Rollout]:
        """Roll out several rows, or all, in their order, some at once; `complete` is shared.

        What one raises, an interrupt too, ends those that go on and is raised again.
        """
        with ThreadPoolExecutor(at_once) as pool:
            try:
                return list(pool.map(partial(self.rollout, complete), rows or self.dataset))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for state in list(self._going_on):
                    self.release(state)
                raise


def _read(call: Mapping[str, JsonValue]) -> tuple[str, dict[str, JsonValue]] | str:
    """Give the name and the arguments of a call, or what is wrong with them."""
    asked = call.get("function")
    function = asked if isinstance(asked, dict) else {}
    name, given = function.get("name"), function.get("arguments") or "{}"
    if not isinstance(name, str):
        return "The call names no function."
    if isinstance(given, dict):
        return name, given
    try:
        return name, decode_object(str(given).encode("utf-8", "surrogatepass"), "The text")
    except ValueError as error:
        return f"The arguments cannot be read: {error}"


def _done(world: OpenWorld, name: str, arguments: dict[str, JsonValue]) -> str:
    return world.step(name, arguments).model_dump_json(exclude={"id"}, exclude_none=True)
