"""The loop: one agent in one session under one policy, and everything that happens in the trace.

Only this module sees agent, policy and session together. It judges nothing.
"""

import time
from dataclasses import dataclass, field, replace

from sandbox.agents.base import Agent, Cancelling, Claiming, Garbage, Metered, able
from sandbox.agents.inside import Launch
from sandbox.agents.repairs import Repaired
from sandbox.model import briefing
from sandbox.model.action import Request
from sandbox.model.allowance import UNBOUNDED, Allowance
from sandbox.model.briefing import OVER, Ended, Reply
from sandbox.model.decision import Decision
from sandbox.model.errors import SessionLostError
from sandbox.model.event import (
    ActionTaken,
    Claimed,
    FilesChanged,
    ModelRequested,
    Observed,
    RunEnded,
    RunStarted,
)
from sandbox.model.observation import ErrorCode, Observation
from sandbox.model.session import Usage
from sandbox.model.trace import TraceWriter
from sandbox.rules.monitors.steps import Step
from sandbox.rules.monitors.watch import Watch
from sandbox.rules.policy.approvers import Approver
from sandbox.rules.policy.rules import Rulebook
from sandbox.run.actions.arguments import understand
from sandbox.run.actions.exec_events import Executions, refused_by
from sandbox.run.actions.gatekeeper import Gatekeeper
from sandbox.run.actions.outcome import Performed, refused
from sandbox.run.actions.registry import prepare
from sandbox.run.actions.registry_route import Route
from sandbox.run.actions.running_commands import Running
from sandbox.run.actions.workspace import Workspace
from sandbox.run.admission import FREE, Place
from sandbox.run.budget import Budget, over
from sandbox.run.consequence import with_consequence
from sandbox.run.disk_watch import DiskWatch
from sandbox.run.ending import NOT_THE_AGENTS, Ending, departed, ending_of
from sandbox.run.facts.observer import Facts
from sandbox.run.live_rules import WatchedTrace
from sandbox.run.performer import Judged, Performer
from sandbox.run.side_actions import SideActions

UNKNOWN = "?"
"""The name of an action that could not be made out."""


def run(
    agent: Agent,
    workspace: Workspace,
    approver: Approver,
    trace: TraceWriter,
    started: RunStarted,
    place: Place = FREE,
    allowance: Allowance = UNBOUNDED,
) -> RunEnded:
    """Let the agent act until it answers, stops or has used up a budget.

    What it waits for its turn on a busy machine, at its `place`, is not taken from its time.
    Every process in the session is killed at the end, and `RunEnded` is the last event whatever
    happens. Raises what ended the run from outside, once that is recorded: KeyboardInterrupt,
    `SessionLostError`, `AgentError` where the agent cannot start, `StoreError` where the trace
    cannot be written. `SourceError`, before anything, where a file of the registry is damaged.
    """
    route = Route(workspace.session, workspace.task.world.registry, workspace.packages)
    record = WatchedTrace(trace, Watch.of(workspace.task))
    record.append(started)
    limits = workspace.task.limits
    deadline = time.monotonic() + limits.seconds
    bounded = replace(workspace, deadline=deadline, begun_ns=time.time_ns())
    rulebook = Rulebook(workspace.task.policy, workspace.root)
    disk = DiskWatch(workspace.session, limits)
    budget = Budget(limits, deadline, disk, allowance)
    performer = Performer(bounded, approver, record, route, budget, place)
    loop = _Loop(agent, performer, rulebook, started.inside, Executions(started=trace.started))
    try:
        disk.begin()
        loop.listen()
        loop.watch_processes()
        loop.facts.begin(started.image)
        agent.begin(briefing.brief(workspace.task, started.run, workspace.root))
        ending = loop.drive()
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            workspace.session.hurry()
        loop.finish(ending_of(error))
        raise
    ended = loop.finish(ending)
    if loop.lost is not None:
        try:
            raise loop.lost
        finally:
            loop.lost = None  # they would hold each other, and the session's connections with them
    disk.check()
    return ended


@dataclass(slots=True)
class _Loop:
    agent: Agent
    performer: Performer
    rulebook: Rulebook
    inside: bool
    executions: Executions
    started: float = field(default_factory=time.monotonic)
    ids: set[str] = field(default_factory=set)
    reply: Reply | None = None
    """What the agent has not been told yet."""
    said: tuple[str, ...] = ()
    """What the user has said meanwhile, unasked."""
    lost: SessionLostError | None = None
    """Why nothing could be cleaned up."""

    @property
    def workspace(self) -> Workspace:
        """What actions work on."""
        return self.performer.workspace

    @property
    def trace(self) -> WatchedTrace:
        """What is recorded."""
        return self.performer.trace

    @property
    def budget(self) -> Budget:
        """What may still be taken."""
        return self.performer.budget

    @property
    def facts(self) -> Facts:
        """What happens in the container."""
        return self.performer.facts

    def watch_processes(self) -> None:
        """See what happens, and each process; where rules are about such, hold and decide."""
        performer, session = self.performer, self.workspace.session
        task, root = self.workspace.task, self.workspace.root
        if task.policy.about_processes:
            ask = performer.put if performer.approver.asked_at_once else None
            route = performer.route
            # A command is one use of a grant; all that an agent does in the container is not.
            use = route.use_by_process if self.inside else route.use
            keeper = Gatekeeper(session, self.rulebook, performer.grants, ask, use, route.release)
            keeper.learn()
            self.executions = Executions(keeper, self.trace.trace.started)
            performer.gatekeeper = keeper
            performer.workspace = replace(self.workspace, interception="hold")
        performer.facts = Facts(
            *(session, task, root, self.executions),
            inside=self.inside,
            understand=self.workspace.understand,
        )
        if self.inside:
            side = SideActions(performer, self.executions, self.judge)
            performer.workspace = replace(performer.workspace, side_actions=side.serve)
        session.on_exec(self.facts)

    def listen(self) -> None:
        """Let the agent take back what is being carried out, and claim what it likes."""
        self.performer.workspace = replace(self.workspace, note=self.note)
        if claiming := able(self.agent, Claiming):
            claiming.claim_with(self.note)
        if cancelling := able(self.agent, Cancelling):
            running = Running()
            self.performer.workspace = replace(self.workspace, running=running)
            cancelling.cancel_with(running.cancel)

    def note(self, event: Claimed | ModelRequested, action_id: str | None = None) -> None:
        """Record what the agent says of itself or asks of its model, from any thread."""
        with self.trace.lock:
            if not self.trace.over:
                self.trace.append(event, action_id)

    def drive(self) -> Ending:
        """Take requests and answer each, until the run is over."""
        silence = self.workspace.task.limits.silence_seconds
        while True:
            self.budget.disk.check()
            try:
                asked = self.agent.next(self.reply, min(silence, self.budget.left))
            except TimeoutError as error:
                self.reply = None
                return self.budget.out_of_time() or Ending("agent_silent", str(error))
            self.reply = None
            if asked is None:
                return departed(self.agent.ending())
            observation, ending = self.turn(asked)
            name = asked.action if isinstance(asked, Request) else UNKNOWN
            remaining = OVER if ending else self.budget.remaining(self.trace.watch.left)
            self.reply = briefing.reply(asked.id, name, observation, remaining, self.said)
            if ending is not None:
                return ending

    def turn(self, asked: Request | Garbage) -> tuple[Observation, Ending | None]:
        """Record what is asked, decide, carry it out, record what comes of it."""
        try:
            judged = self.judge(asked)
        except SessionLostError:
            self.trace.append(_taken(asked, None), asked.id)
            raise
        decision = judged.judgement.decision if isinstance(judged, Judged) else None
        self.trace.append(_taken(asked, decision), asked.id)
        ending = self.budget.exhausted()
        self.budget.take_usage(asked.usage if isinstance(asked, Request) else None)
        if ending is not None:
            performed = Performed(over(ending))
        elif isinstance(judged, Judged):
            self.budget.take_action()
            performed, ending = self.performer.answer(judged, asked.id)
        else:
            performed, ending = Performed(judged), self.budget.take_refused(judged)
        observation = performed.observation
        if ending is None and (ending := self.budget.take_output(observation)) is not None:
            observation = over(ending)
        name = asked.action if isinstance(asked, Request) else UNKNOWN
        arguments = asked.arguments if isinstance(asked, Request) else {}
        self.facts.told(name, arguments, observation)
        # Nobody waits for the reply to what was cancelled, or acts upon one that is the last; an
        # agent in the container hears by its own actions.
        deaf = self.inside or ending is not None
        deaf = deaf or observation.error_code is ErrorCode.CANCELLED
        self.said = () if deaf else self.facts.heard(asked.id or "")
        taken = self.executions.take(name, performed.changed)
        if (fact := refused_by(decision, "action")) is not None:
            taken.append((fact, asked.id))
        step = Step(0, name, arguments, observation, performed.changed)
        observation = with_consequence(
            observation, step, (event for event, _ in taken), self.trace.watch
        )
        self.trace.append_all([*taken, *self.performer.route.take()])
        if performed.changed:
            self.trace.append(FilesChanged(paths=performed.changed), asked.id)
        self.trace.append(Observed(name=name, observation=observation), asked.id)
        return observation, ending

    def judge(self, asked: Request | Garbage) -> Judged | Observation:
        """Understand a request and decide on it, or refuse what cannot be understood."""
        if isinstance(asked, Garbage):
            return refused(ErrorCode.BAD_REQUEST, asked.problem)
        if asked.id in self.ids:
            return refused(ErrorCode.BAD_REQUEST, f"The id {asked.id!r} was used before.")
        self.ids.add(asked.id)
        action = asked.launched if isinstance(asked, Launch) else understand(asked)
        if isinstance(action, Observation):
            return action
        prepared = prepare(action, self.workspace)
        return Judged(action, prepared, self.rulebook.action(prepared.subject))

    def finish(self, ending: Ending) -> RunEnded:
        """End the agent and every process, and record the end whatever happens meanwhile."""
        killed, usage = 0, Usage(None, None, 0, 0)
        try:
            self.agent.close(self.reply, Ended(ended=ending.reason, message=ending.message))
        finally:
            try:
                self.workspace.servers.close()
                killed = self.workspace.session.kill_all()
                self.budget.disk.end()
                self.workspace.session.settle()
                self.facts.end()
                usage = self.workspace.session.usage()
            except SessionLostError as error:
                self.lost = error
                if ending.reason not in NOT_THE_AGENTS:
                    ending = ending_of(error)
            finally:
                self.budget.disk.stop()
                if self.budget.disk.exceeded and ending.reason not in NOT_THE_AGENTS:
                    ending = Ending("disk_limit", self.budget.disk.exceeded)
                ended = self.ended(ending, killed, usage)
                rest = (*self.executions.take(), *self.performer.route.take())
                self.trace.end(ended, rest)
        return ended

    def ended(self, ending: Ending, killed: int, usage: Usage) -> RunEnded:
        """Sum up the run."""
        metered = able(self.agent, Metered)
        return RunEnded(
            reason=ending.reason,
            message=ending.message,
            status=ending.status,
            turns=self.budget.turns,
            seconds=round(time.monotonic() - self.started - self.budget.waited, 6),
            waited_seconds=round(self.budget.waited, 6),
            killed_processes=killed,
            memory_peak_bytes=usage.memory_peak_bytes,
            cpu_seconds=usage.cpu_seconds,
            out_of_memory_kills=usage.out_of_memory_kills,
            usage=metered.used() if metered else None,
        )


def _taken(asked: Request | Garbage, decision: Decision | None) -> ActionTaken:
    if isinstance(asked, Garbage):
        return ActionTaken(name=UNKNOWN, arguments={"line": asked.excerpt})
    return ActionTaken(
        name=asked.action,
        arguments=asked.arguments,
        decision=decision,
        usage=asked.usage,
        repairs=asked.repairs if isinstance(asked, Repaired) else (),
    )
