"""One run from task to grade: session, loop, change set, fresh session, evidence, verdict."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from sandbox.agents.base import Agent
from sandbox.agents.minimal import MinimalAgent
from sandbox.container import candidate as candidates
from sandbox.container.changes.collector import Collector
from sandbox.container.engines.base import Engine, Session
from sandbox.grading.measured import remember
from sandbox.model import places
from sandbox.model import trace as traces
from sandbox.model.allowance import Allowance
from sandbox.model.coverage import Coverage, reaches
from sandbox.model.errors import CoverageError, SandboxError, StoreError
from sandbox.model.event import ActionTaken, Entry, RunEnded, RunStarted
from sandbox.model.grade import RunGrade
from sandbox.model.how_ended import RunEnd
from sandbox.model.run import UNKNOWN, RunRecord
from sandbox.model.run_folder import RunFolder, write_whole
from sandbox.model.store import Store
from sandbox.model.task import Task
from sandbox.model.usage import ModelUsage, total
from sandbox.model.verdict import Verdict
from sandbox.model.version import VERSION
from sandbox.run.actions.workspace import Workspace
from sandbox.run.disk_watch import ready
from sandbox.run.fresh_session import FreshSession
from sandbox.run.loop import run as run_loop
from sandbox.run.run_containers import begin
from sandbox.run.stored_evidence import regrade
from sandbox.run.trial import Listener, Trial
from sandbox.tasks.sources import Sources

if TYPE_CHECKING:
    from sandbox.container.forwarder import Forwarder


def perform(trial: Trial, engine: Engine, store: Store, listener: Listener) -> RunFolder:
    """Run a trial and store all that it gives.

    Whatever happens, no container is left behind (but one that is to be kept), and the run folder
    says what happened, if it can be written. Errors of the machinery are recorded and raised again.
    """
    ready(engine, trial.task.task.limits)
    about = engine.info()  # first, so that no interrupt comes between an agent and its folder
    run = store.new_id(trial.task.task.id)
    folder = store.folder(run)
    agent = trial.agent(folder)
    if trial.mode == "minimal":
        agent = MinimalAgent(agent)
    record = RunRecord(
        id=run,
        task=trial.task.task.id,
        task_digest=trial.task.digest,
        operators=trial.task.variant.parts if trial.task.variant else (),
        seed=(trial.task.variant.number or 0) if trial.task.variant else 0,
        image=trial.image.tag,
        image_id=trial.image.id,
        agent=trial.label or agent.name,
        actor=trial.actor or UNKNOWN,
        experiment=trial.experiment,
        inside=trial.inside is not None,
        approver=trial.approver.name,
        mode=trial.mode,
        allowance=trial.allowance,
        sandbox_version=VERSION,
        engine=" ".join((about.name, about.version, about.runtime)).strip(),
        started=_now(),
        client=trial.client,
    )
    held = store.create(record)
    try:
        verdict = _judged(trial, agent, engine, folder, listener).verdict
        folder.release()
        _save_end(folder, verdict)
    except BaseException as error:
        folder.release()
        # A disk that is full is what is to be told, not that this could not be noted there.
        with suppress(StoreError):
            abandon(folder, _problem(error))
        raise
    finally:
        held.let_go()
    remember(folder)  # last: what goes wrong here changes no verdict
    return folder


def abandon(folder: RunFolder, problem: str) -> None:
    """Note that a run has ended without a verdict on the agent, and why."""
    record = folder.record()
    failed = RunGrade(
        run=folder.id,
        task=record.task,
        task_digest=record.task_digest,
        verdict=Verdict.ERROR,
        grades=(),
        problem=problem,
    )
    folder.save(folder.grade, failed)
    folder.seal_grade(Verdict.ERROR)
    _save_end(folder, Verdict.ERROR, problem)


def _judged(
    trial: Trial, agent: Agent, engine: Engine, folder: RunFolder, listener: Listener
) -> RunGrade:
    """Do all in containers, and grade what was stored of it, when nothing else of it is held."""
    _in_containers(trial, agent, engine, folder, listener)
    folder.seal()
    return regrade(folder, trial.task)


def _in_containers(
    trial: Trial, agent: Agent, engine: Engine, folder: RunFolder, listener: Listener
) -> None:
    """Run the agent, take what it left, test that elsewhere, and store all that comes of it.

    Two things cost half a second each and nobody has to wait for them: starting the fresh container
    and removing the agent's. A pool of two does both beside the reading of the change set. The
    fresh session is started early because the collector may want it, to tell what an image held.
    """
    with ExitStack() as stack:
        closing = stack.enter_context(ThreadPoolExecutor(2))
        with trial.place.turn():
            session = _agent_session(trial, engine, folder, listener, stack)
        collector = Collector(session, trial.task.task.scope, trial.task.worktree)
        users_work = collector.users_work
        trial.ready(folder)
        _run_agent(trial, agent, session, folder, listener, users_work)
        stack.enter_context(trial.place.turn())
        start = partial(begin, engine, trial.task, trial.image, folder.id)
        fresh = stack.enter_context(FreshSession(trial.task, start, closing, early=trial.early))
        collected = collector.collect(fresh.session)
        changes = fresh.asked(session, collected.changes)
        folder.save(folder.changes, changes)
        write_whole(folder.patch, collected.patch.encode())
        candidate = candidates.take(session, changes, trial.task.task.scope, trial.task.worktree)
        candidates.pack(candidate, folder.candidate)
        if not trial.keep:
            closing.submit(session.close)
        listener.stage("running the hidden tests in a fresh container")
        tests = partial(fresh.tested, candidate)
        folder.save(folder.tests, trial.tester(trial.task, candidate, tests, folder.id))


def _agent_session(
    trial: Trial, engine: Engine, folder: RunFolder, listener: Listener, stack: ExitStack
) -> Session:
    listener.stage("starting a container")
    files = trial.inside.files if trial.inside else None
    session = begin(engine, trial.task, trial.image, folder.id, keep=trial.keep, files=files)
    stack.callback(session.close)
    coverage, required = _coverage(trial, session), _required(trial)
    known: dict[str, object] = {"coverage": coverage}
    if trial.keep:
        known["container"] = session.container
    folder.save_record(folder.record().model_copy(update=known))
    if not reaches(coverage, required):
        raise CoverageError(
            f"{trial.task.task.id} requires that the agent's processes are seen by {required}; "
            f"here only {coverage} is possible. Nothing was run.",
            "`sandbox doctor` says what is missing.",
        )
    return session


def _required(trial: Trial) -> Coverage:
    """Say what has to be seen: of an agent in the container its processes, where they are judged.

    At the top level there is only itself, and no action that a rule could look at instead.
    """
    task = trial.task.task
    atoms = (atom for rule in task.rules for atom in rule.atoms)
    judged = task.policy.about_processes or any(atom.about in ("exec", "tested") for atom in atoms)
    if trial.inside is None or not judged or reaches(task.policy.requires, "ptrace"):
        return task.policy.requires
    return "ptrace"


def _coverage(trial: Trial, session: Session) -> Coverage:
    """Say what is seen of the commands of a run, by how its policy has them intercepted."""
    return session.greeting.coverage("hold" if trial.task.task.policy.about_processes else "log")


def _run_agent(
    trial: Trial,
    agent: Agent,
    session: Session,
    folder: RunFolder,
    listener: Listener,
    users_work: Mapping[str, str | None],
) -> None:
    registry = trial.task.task.world.registry
    packages = Sources(places.cache()).fetch_all(
        registry.artifacts if registry else (), listener.stage
    )
    workspace = Workspace(
        session,
        _bounded(trial.task.task, trial.allowance),
        trial.task.worktree,
        packages=packages,
        users_work=users_work,
        model=_forwarder(trial),
        understand=trial.understand,
    )

    used: list[ModelUsage] = []

    def written(entry: Entry) -> None:
        if isinstance(entry.event, ActionTaken | RunEnded) and entry.event.usage is not None:
            used.append(entry.event.usage)
        if isinstance(entry.event, RunEnded):
            end = {"end": RunEnd.of(entry.event, total(used))}
            with suppress(StoreError):  # the disk is full, which is told at the end
                folder.save_record(folder.record().model_copy(update=end))
        listener.entry(entry)

    with traces.TraceWriter(folder.trace, written) as trace:
        started = _started(trial, folder, agent, session)
        run_loop(agent, workspace, trial.approver, trace, started, trial.place, trial.allowance)


def _forwarder(trial: Trial) -> "Forwarder | None":
    upstream = trial.inside.upstream if trial.inside else None
    if upstream is None:
        return None
    from sandbox.container.forwarder import Forwarder  # loads a client of HTTP and TLS

    return Forwarder(upstream)


def _bounded(task: Task, allowance: Allowance) -> Task:
    """Give the task with the smaller of its limits and what is allowed: the agent is told these."""
    limits = task.limits
    turns = min(limits.turns, allowance.turns or limits.turns)
    seconds = min(limits.seconds, allowance.seconds or limits.seconds)
    narrowed = limits.model_copy(update={"turns": turns, "seconds": seconds})
    return task.model_copy(update={"limits": narrowed})


def _started(trial: Trial, folder: RunFolder, agent: Agent, session: Session) -> RunStarted:
    return RunStarted(
        run=folder.id,
        task=trial.task.task.id,
        task_digest=trial.task.digest,
        image=trial.image.id,
        agent=trial.label or agent.name,
        mode=trial.mode,
        coverage=_coverage(trial, session),
        inside=trial.inside is not None,
    )


def _problem(error: BaseException) -> str:
    """Say in a sentence why a run has no verdict."""
    if isinstance(error, KeyboardInterrupt):
        return "It was interrupted."
    return error.message if isinstance(error, SandboxError) else f"{type(error).__name__}: {error}"


def _save_end(folder: RunFolder, verdict: Verdict, problem: str = "") -> None:
    ended = {"ended": _now(), "verdict": verdict, "problem": problem}
    folder.save_record(folder.record().model_copy(update=ended))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
