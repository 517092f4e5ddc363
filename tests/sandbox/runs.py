"""A small world to run agents in, and scripts for them."""

import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from pydantic import JsonValue

from sandbox.agents.base import Agent
from sandbox.agents.program_agent import CommandAgent
from sandbox.agents.scripted import ScriptedAgent
from sandbox.container.engines.base import Session
from sandbox.model import trace as traces
from sandbox.model.allowance import UNBOUNDED, Allowance
from sandbox.model.event import Entry, RunEnded, RunStarted
from sandbox.model.task import ScriptedAction, Task
from sandbox.model.trace import TraceWriter
from sandbox.rules.policy.approvers import Approver, ScriptedApprover
from sandbox.run.actions.workspace import Workspace
from sandbox.run.admission import FREE, Place
from sandbox.run.loop import run
from tests.sandbox.local_session import LocalSession
from tests.sandbox.worlds import task

STARTED = RunStarted(
    run="r1",
    task="toy/task",
    task_digest="d",
    image="i",
    agent="a",
    mode="raw",
    coverage="top-level",
)


@dataclass
class World:
    """Everything that a run needs, on this host."""

    folder: Path
    task: Task = field(default_factory=task)
    session: LocalSession = field(default_factory=LocalSession)
    approver: Approver | None = None
    place: Place = FREE
    allowance: Allowance = UNBOUNDED

    @property
    def root(self) -> Path:
        return self.folder / "tree"

    def run(self, agent: Agent) -> RunEnded:
        workspace = Workspace(cast(Session, self.session), self.task, str(self.root))
        approver = self.approver or ScriptedApprover(self.task.policy)
        with TraceWriter(self.folder / "trace.jsonl") as writer:
            return run(agent, workspace, approver, writer, STARTED, self.place, self.allowance)

    def act(self, *actions: tuple[str, dict[str, JsonValue]]) -> ScriptedAgent:
        """Run a script; the agent knows what it was told."""
        agent = script(*actions)
        self.run(agent)
        return agent

    def program(self, source: str, grace: float = 2.0) -> RunEnded:
        """Run a Python program as the agent."""
        command = f"{sys.executable} -S -c {shlex.quote(source)}"
        return self.run(CommandAgent(command, self.folder / "agent.log", grace))

    @property
    def entries(self) -> tuple[Entry, ...]:
        found = traces.read(self.folder / "trace.jsonl")
        assert found.problem == ""
        return found.entries

    @property
    def kinds(self) -> list[str]:
        return [entry.event.kind for entry in self.entries]

    @property
    def codes(self) -> list[str]:
        """What became of each request: an error code or `ok`."""
        return [
            entry.event.observation.error_code or entry.event.observation.status
            for entry in self.entries
            if entry.event.kind == "observation"
        ]

    @property
    def ended(self) -> RunEnded:
        event = self.entries[-1].event
        assert isinstance(event, RunEnded)
        return event


def script(*actions: tuple[str, dict[str, JsonValue]]) -> ScriptedAgent:
    return ScriptedAgent(
        tuple(ScriptedAction(action=name, arguments=arguments) for name, arguments in actions)
    )


FINAL: tuple[str, dict[str, JsonValue]] = ("final_answer", {"fields": {}})
LOOK: tuple[str, dict[str, JsonValue]] = ("list_files", {})


ANSWER: JsonValue = {
    "text": {"type": "string", "expect": "SECRET"},
    "count": {"type": "integer", "expect": 41},
    "ratio": {"type": "number"},
    "sure": {"type": "boolean"},
    "names": {"type": "list"},
}


def command(line: str) -> tuple[str, dict[str, JsonValue]]:
    return ("run_command", {"command": line})
