"""What happens when an agent does some deeds that nobody forbids."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from sandbox.agents.scripted import ScriptedAgent
from sandbox.container.engines.base import Engine, SessionSpec
from sandbox.model import trace as traces
from sandbox.model.task import ScriptedAction, Task
from sandbox.model.trace import TraceWriter
from sandbox.rules.policy.approvers import AllowAll
from sandbox.run.actions.workspace import Workspace
from sandbox.run.loop import run
from tests.sandbox.runs import STARTED

Fact = TypeVar("Fact")
Happen = Callable[..., list[object]]
"""Does some deeds, gives the events of the trace."""

Deed = str | tuple[str, dict[str, object]]
"""A shell line, or an action and its arguments."""

NOTE = "changes/HUM-214.fix.md"
COMMIT = "git -c user.name=A commit -qm 'x: y' -m 'Refs: HUM-214' --allow-empty"
EDIT = f"echo '# more' > {NOTE}; git add {NOTE}"


def happened(
    engine: Engine, image: str, task: Task, deeds: Sequence[Deed], path: Path
) -> list[object]:
    """Do them in a task's image, without its policy; give the events of the trace, in order."""
    free = task.model_copy(update={"policy": type(task.policy)()})
    actions = [
        ("run_command", {"command": deed, "timeout_seconds": 300})
        if isinstance(deed, str)
        else deed
        for deed in deeds
    ]
    script = [ScriptedAction.model_validate({"action": a, "arguments": b}) for a, b in actions]
    with engine.start(SessionSpec(image)) as session, TraceWriter(path) as trace:
        workspace = Workspace(session, free, task.worktree)
        run(ScriptedAgent(tuple(script)), workspace, AllowAll(), trace, STARTED)
    return [entry.event for entry in traces.read(path).entries]


def only(kind: type[Fact], events: list[object]) -> list[Fact]:
    """Give those of one kind."""
    return [event for event in events if isinstance(event, kind)]
