"""The safety gate: a client is driven by a scripted model before it is trusted with a run.

A mistake in a client's configuration fails open: its own tools are back, and what they do happens
on this host, unseen. So the real client acts in a real session, and it is looked at what comes of
it: which tools the model was offered, what became of calls of tools that are switched off, of an
action that is denied, and of a command that was going on when the client was interrupted.
"""

import fnmatch
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from string import Template

from sandbox.agents.clients.installation import Installation, version
from sandbox.agents.clients.modelled_command import ModelledCommand
from sandbox.agents.clients.preset import Preset
from sandbox.agents.clients.preset_client import Model, PresetClient, offered
from sandbox.agents.clients.preset_files import digest
from sandbox.agents.mcp_agent import Client, McpAgent, Place
from sandbox.agents.playback.replay import Shell, call, replay
from sandbox.agents.playback.script import Call, Script
from sandbox.agents.playback.server import ModelServer, Seen
from sandbox.container.engines.base import Session
from sandbox.model import briefing
from sandbox.model import trace as traces
from sandbox.model.client import GateCheck, GateReport
from sandbox.model.documents import load
from sandbox.model.event import Entry, Observed, RunEnded, RunStarted
from sandbox.model.observation import ErrorCode, Observation
from sandbox.model.scratch import Scratch
from sandbox.model.session import AGENT
from sandbox.model.task import ScriptedAction, Task
from sandbox.rules.policy.approvers import DenyAll
from sandbox.run.actions.workspace import Workspace
from sandbox.run.loop import run

KEY = "scripted"
"""The key that the client gets; the scripted server asks for none."""

INTERRUPT_SECONDS = 10.0
"""How long an interrupted client may go on before it is killed."""

BEGAN = "gate-began"
WORKS = ScriptedAction(
    action="run_command", arguments={"command": "echo reached > gate-works; cat gate-works"}
)
DENIED = ScriptedAction(action="run_command", arguments={"command": "touch gate-denied"})
SLEEP = ScriptedAction(
    action="run_command", arguments={"command": f"echo > {BEGAN}; exec sleep 190"}
)
COMMAND = Path(__file__).with_name("command.yaml")
"""What takes a preset's place where a command is tried."""
ANSWER = ScriptedAction(action="final_answer", arguments={"fields": {}})

_PAUSE = 0.05


@dataclass
class Conversation:
    """What came of one drive of the client."""

    ended: RunEnded
    entries: tuple[Entry, ...]
    seen: Seen

    @property
    def observations(self) -> list[Observation]:
        """What the client was told."""
        return [event.observation for event in self._observed]

    @property
    def commands(self) -> list[Observation]:
        """What it was told of commands; some clients look around before their model is asked."""
        return [event.observation for event in self._observed if event.name == "run_command"]

    @property
    def _observed(self) -> list[Observed]:
        events = [entry.event for entry in self.entries]
        return [event for event in events if isinstance(event, Observed)]


@dataclass
class Gate:
    """One client at the gate, in one session."""

    preset: Preset
    installation: Installation
    session: Session
    worktree: str
    command: str = ""
    """A command line that is tried in place of the preset's client, whose variables it gets."""
    model: str | None = None
    """The name of the model; the preset's where it is left out."""
    say: Callable[[str], None] = lambda _: None
    task: Task = field(default_factory=lambda: load(Path(__file__).with_name("task.yaml"), Task))

    def check(self) -> GateReport:
        """Drive the client twice, and report."""
        begun = time.monotonic()
        found = "" if self.command else version(self.preset, self.installation)
        title = self.command or f"{self.preset.title} {found}"
        with Scratch("gate") as place:
            self.say(f"{title}: offered tools, built-in tools, a denied action")
            canaries = [place / f"canary-{number}" for number in range(len(self.preset.built_in))]
            acted = self._drive(place / "acts", self._acts(canaries))
            checks = (*self._acted(acted), self._untouched(canaries), self._denied(acted))
            self.say(f"{title}: an interrupt while a command runs")
            stopped = self._drive(place / "sleeps", replay([SLEEP], self._shell), interrupt=True)
        return GateReport(
            preset=self.preset.name,
            preset_digest=digest(self.preset),
            version=found,
            model=self._model,
            checked=datetime.now(UTC).isoformat(timespec="seconds"),
            seconds=round(time.monotonic() - begun, 1),
            checks=(*checks, _cancelled(stopped)),
        )

    def _client(self, model: Model) -> Client:
        if self.command:
            return ModelledCommand(self.command, self.preset.environment, model)
        return PresetClient(self.preset, self.installation, model)

    @property
    def _model(self) -> str:
        return self.model or self.preset.endpoint.scripted_model

    @property
    def _shell(self) -> Shell | None:
        through = self.preset.through
        return Shell(through.tool, through.argument, through.commands_only) if through else None

    def _acts(self, canaries: list[Path]) -> Script:
        built_in = [
            _with_canary(each, canary)
            for each, canary in zip(self.preset.built_in, canaries, strict=True)
        ]
        first = call(WORKS.action, WORKS.arguments, self._shell)
        return (first, *built_in, *replay([DENIED, ANSWER], self._shell))

    def _drive(self, folder: Path, script: Script, *, interrupt: bool = False) -> Conversation:
        folder.mkdir()
        trace = folder / "trace.jsonl"
        endpoint = self.preset.endpoint
        with ModelServer(script) as models:
            model = Model(self._model, models.url + endpoint.path, KEY)
            agent = McpAgent(
                self._client(model), Place(folder / "socket", folder / "out", folder / "log")
            )
            stop = threading.Event()
            watcher = threading.Thread(target=self._interrupt, args=(agent, stop))
            if interrupt:
                watcher.start()
            workspace = Workspace(self.session, self.task, self.worktree)
            try:
                with traces.TraceWriter(trace) as writer:
                    ended = run(agent, workspace, DenyAll(), writer, self._started())
            finally:
                stop.set()
                if interrupt:
                    watcher.join()
            return Conversation(ended, traces.read(trace).entries, models.seen)

    def _interrupt(self, agent: McpAgent, stop: threading.Event) -> None:
        """Interrupt the client once its command runs, and kill it if that does not end it."""
        while not self._exists(BEGAN):
            if stop.wait(_PAUSE):
                return
        agent.interrupt()
        if not stop.wait(INTERRUPT_SECONDS):
            agent.kill()

    def _started(self) -> RunStarted:
        return RunStarted(
            run="gate",
            task=self.task.id,
            task_digest="",
            image="",
            agent=self.preset.name,
            mode="raw",
            coverage="top-level",
        )

    def _exists(self, name: str) -> bool:
        try:
            self.session.stat(name, beneath=self.worktree)
        except OSError:
            return False
        return True

    def _acted(self, found: Conversation) -> tuple[GateCheck, ...]:
        actions = [each.name for each in briefing.brief(self.task, "", "").actions]
        expected = offered(self.preset, actions)
        extra = {tool.name for tool in self.preset.extra_tools}
        seen = found.seen.offered
        missing = sorted(each for each in expected if not fnmatch.filter(seen, each))
        ours = {tool for each in expected for tool in fnmatch.filter(seen, each)}
        strange = sorted(seen - ours - extra)
        first = found.commands[0] if found.commands else None
        works = first is not None and first.result.get("stdout") == "reached\n"
        over = found.ended.reason == "final_answer"
        return (
            GateCheck(
                name="works",
                passed=works and self._read("gate-works") == b"reached\n",
                message="A command ran in the container."
                if works
                else f"The first call did not arrive: {found.ended.message or found.ended.reason}",
            ),
            GateCheck(
                name="tools",
                passed=not missing and not strange,
                message=f"Tools offered: {len(found.seen.offered)}"
                + (f", of which are not the harness's: {', '.join(strange)}" if strange else "")
                + (f", and missing are: {', '.join(missing)}" if missing else "")
                + ".",
            ),
            GateCheck(
                name="ended",
                passed=over,
                message="The final answer arrived."
                if over
                else f"It ended by {found.ended.reason}: {found.ended.message}",
            ),
        )

    def _read(self, name: str) -> bytes:
        try:
            return self.session.read(name, beneath=self.worktree, user=AGENT)
        except OSError:
            return b""

    def _untouched(self, canaries: list[Path]) -> GateCheck:
        touched = [
            each.tool
            for each, canary in zip(self.preset.built_in, canaries, strict=True)
            if canary.exists()
        ]
        message = f"Calls of built-in tools that changed nothing on this host: {len(canaries)}."
        if touched:
            message = f"On this host wrote: {', '.join(touched)}."
        return GateCheck(name="built_in", passed=not touched, message=message)

    def _denied(self, found: Conversation) -> GateCheck:
        told = any(each.error_code is ErrorCode.POLICY_DENIED for each in found.observations)
        done = self._exists("gate-denied")
        message = "The denied action was refused and not done."
        if not told or done:
            message = "The denied action was done." if done else "The denied action never arrived."
        return GateCheck(name="denied", passed=told and not done, message=message)


def _cancelled(found: Conversation) -> GateCheck:
    """Look whether the command was killed at once, not only with the session's other processes."""
    told = [each.error_code for each in found.commands[:1]]
    passed = told == [ErrorCode.CANCELLED] and not found.ended.killed_processes
    message = "What was running when the client was interrupted was killed."
    if not passed:
        left = found.ended.killed_processes
        message = f"The command ended as {told or 'never begun'}; {left} processes were left."
    return GateCheck(name="cancelled", passed=passed, message=message)


def _with_canary(built_in: Call, canary: Path) -> Call:
    text = Template(built_in.model_dump_json()).substitute(canary=canary)
    return Call.model_validate_json(text)
