"""Scripted agents of a run, which can say in their answers what the run's facts are."""

import shlex
from collections.abc import Callable, Mapping, Sequence

from pydantic import JsonValue

from graders.final import true_value
from sandbox.agents.base import Agent, Garbage
from sandbox.agents.inside import InsideAgent
from sandbox.agents.scripted import Account, ScriptedAgent, accounted
from sandbox.model import trace as traces
from sandbox.model.action import FinalAnswer, Request
from sandbox.model.briefing import Reply
from sandbox.model.final import by_facts
from sandbox.model.run_folder import RunFolder
from sandbox.model.task import ScriptedAction, Task


def scripted(
    task: Task, actions: Sequence[ScriptedAction], name: str = "oracle"
) -> Callable[[RunFolder], Agent]:
    """Return what makes the agent that follows a script of a task, in a run's folder."""
    return lambda folder: ScriptedAgent(actions, name, account(task, folder))


def scripted_inside(task: Task, shell: str, name: str) -> Callable[[RunFolder], Agent]:
    """Return what makes the agent that runs a shell script in the container."""
    return lambda folder: ScriptedInside(shell, name, account(task, folder))


def account(task: Task, folder: RunFolder) -> Account:
    """Return what says, of a run that goes on, what its facts are until now."""
    return lambda: _account(task, folder)


class ScriptedInside(InsideAgent):
    """A shell script in the container, whose answer may be left to the run's facts."""

    def __init__(self, shell: str, name: str, account: Account) -> None:
        # In the container nothing is an action, so what is left to the facts is known before.
        super().__init__(shlex.join(("bash", "-c", by_facts(shell, account()))), name)
        self._account = account

    def next(self, reply: Reply | None, timeout: float) -> Request | Garbage | None:
        """Ask for the start, then give the answer."""
        asked = super().next(reply, timeout)
        if not isinstance(asked, Request) or asked.action != FinalAnswer.name:
            return asked
        known = accounted(asked.action, asked.arguments, self._account)
        return asked.model_copy(update={"arguments": known})


def _account(task: Task, folder: RunFolder) -> Mapping[str, JsonValue]:
    """Read the trace as far as it is written."""
    entries = traces.read(folder.trace).entries if folder.trace.exists() else ()
    fields = {name: each.computed for name, each in task.final.items() if each.computed}
    computed = {**fields, **task.trailers}
    for lines in task.reports.values():
        computed |= lines
    return {name: true_value(each, task, entries) for name, each in computed.items()}
