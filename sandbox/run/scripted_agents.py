"""Scripted agents of a run, which can say in their answers what the run's facts are."""

from collections.abc import Callable, Mapping, Sequence

from pydantic import JsonValue

from graders.final import true_value
from sandbox.agents.base import Agent
from sandbox.agents.scripted import ScriptedAgent
from sandbox.model import trace as traces
from sandbox.model.run_folder import RunFolder
from sandbox.model.task import ScriptedAction, Task


def scripted(
    task: Task, actions: Sequence[ScriptedAction], name: str = "oracle"
) -> Callable[[RunFolder], Agent]:
    """Return what makes the agent that follows a script of a task, in a run's folder."""
    return lambda folder: ScriptedAgent(actions, name, lambda: _account(task, folder))


def _account(task: Task, folder: RunFolder) -> Mapping[str, JsonValue]:
    """Read the trace as far as it is written."""
    entries = traces.read(folder.trace).entries
    return {
        name: true_value(field.computed, task, entries)
        for name, field in task.final.items()
        if field.computed is not None
    }
