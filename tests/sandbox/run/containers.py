"""A loop in a real container of the smallest task."""

from pathlib import Path

from pydantic import JsonValue

from sandbox.agents.scripted import ScriptedAgent
from sandbox.container.engines.base import Limits, Session
from sandbox.model import trace as traces
from sandbox.model.briefing import Reply
from sandbox.model.trace import Trace, TraceWriter
from sandbox.rules.policy.approvers import DenyAll
from sandbox.run.actions.workspace import Workspace
from sandbox.run.loop import run
from sandbox.tasks import library
from tests.sandbox.runs import STARTED, script

LOADED = library.load("humanize/file-sizes")
LIMITS = Limits(memory_bytes=256 << 20, processes=64)


class Container:
    def __init__(self, session: Session, folder: Path) -> None:
        self.session = session
        self.path = folder / "trace.jsonl"
        limits = LOADED.task.limits.model_copy(update={"command_seconds": 5.0})
        task = LOADED.task.model_copy(update={"limits": limits, "final": {}})
        self.workspace = Workspace(session, task, LOADED.worktree)

    def act(self, *actions: tuple[str, dict[str, JsonValue]]) -> list[Reply]:
        agent = script(*actions)
        self.run(agent)
        return agent.replies

    def run(self, agent: ScriptedAgent) -> None:
        with TraceWriter(self.path) as writer:
            run(agent, self.workspace, DenyAll(), writer, STARTED)

    @property
    def trace(self) -> Trace:
        return traces.read(self.path)
