"""Execs under the default seccomp profile, without capabilities, and an agent who fights it."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from sandbox.container.engines.base import Engine, Limits, Session, SessionSpec
from sandbox.model import places
from sandbox.model import trace as traces
from sandbox.model.agent_environment import ENVIRONMENT
from sandbox.model.errors import SessionLostError
from sandbox.model.event import ExecsLost, Executed, Observed
from sandbox.model.session import AGENT, Command, Completed, Exec, Interception
from sandbox.model.trace import TraceWriter
from sandbox.rules.policy.approvers import DenyAll
from sandbox.run.actions.workspace import Workspace
from sandbox.run.loop import run
from sandbox.tasks import library
from sandbox.tasks.images import Images
from tests.sandbox.container.supervisor.watched import Recorder, only
from tests.sandbox.runs import FINAL, LOOK, STARTED, command, script

pytestmark = [pytest.mark.engine, pytest.mark.slow]

LOADED = library.load("humanize/file-sizes")
OWN = "/tmp/attacks"


@pytest.fixture(params=["exec", "ptrace"])
def session(engine: Engine, attacks: Path, request: pytest.FixtureRequest) -> Iterator[Session]:
    image = Images(engine, places.cache()).ensure(LOADED, lambda _: None)
    limits = Limits(memory_bytes=512 << 20, processes=128)
    spec = SessionSpec(image.tag, limits=limits, interception=request.param)
    with engine.start(spec) as session:
        if session.greeting.coverage("hold") != request.param:
            pytest.skip(f"this kernel has no {request.param}")
        session.write(OWN, attacks.read_bytes(), mode=0o755, user=AGENT)
        yield session


def act(session: Session, how: Interception, *argv: str, timeout: float = 60) -> Completed:
    return session.run(
        Command(argv, cwd="/tmp", environment=ENVIRONMENT, interception=how, timeout=timeout)
    )


@pytest.mark.parametrize("how", ["log", "hold"])
def test_everything_is_read_with_the_agents_rights(session: Session, how: Interception) -> None:
    session.on_exec(recorder := Recorder())
    line = f"{OWN} int80 /bin/true; {OWN} hidden /bin/true; git status"
    done = act(session, how, "sh", "-c", line)
    listens = session.greeting.coverage(how) == "exec"
    refused = b"Permission denied\n" if listens else b""
    assert done.stdout == b"Function not implemented\n" + refused
    unreadable = [each for each in recorder.all if each.problem]
    assert len(unreadable) == listens  # a traced one is read when it is another program already
    assert recorder.all[-1].arguments == (b"git", b"status")
    assert recorder.all[-1].uid == AGENT.uid
    assert recorder.end("git").exit_code == 128


@pytest.mark.parametrize("mode", ["path", "argument", "link"])
def test_nothing_runs_that_was_not_approved(session: Session, mode: str) -> None:
    good, evil = "/tmp/good", "/tmp/evil"
    program = session.read(OWN)
    for path in (good, evil):
        session.write(path, program, mode=0o755, user=AGENT)
    arguments = [good, evil, "/tmp/link" if mode == "link" else "wake"]
    recorder = Recorder(only(OWN.encode(), good.encode()))
    if mode == "argument":
        arguments = ["argument-1", "argument-2", OWN]
        recorder.decide = lambda seen: 13 if b"argument-2" in seen.arguments[:2] else 0
    session.on_exec(recorder)
    assert act(session, "hold", OWN, mode, *arguments).exit_code == 0
    left = {entry.path for entry in session.list("/tmp")}
    assert not left & {b"mark", b"evil.mark"}
    assert len(recorder.all) > 60


def test_the_agent_cannot_touch_the_supervisor(session: Session) -> None:
    session.on_exec(recorder := Recorder())
    done = act(session, "hold", OWN, "against", "1")
    assert done.stdout == b"Operation not permitted\n" * 3
    stolen = "ls /proc/1/fd; cat /proc/1/mem; kill -9 -1; exit 7"
    act(session, "hold", "sh", "-c", stolen)
    assert act(session, "hold", "true").exit_code == 0
    assert recorder.all[-1].program == b"/usr/bin/true"


BOMB = "while :; do sleep 60 & done"
"""Each of its processes stays, so the table is full until they are killed."""
STARVE = "for i in $(seq 8); do (while :; do :; done) & done; for i in $(seq 50); do {}; done"


def test_a_full_process_table_and_a_busy_machine_lose_nothing(session: Session) -> None:
    session.on_exec(Recorder())
    assert b"fork" in act(session, "hold", "sh", "-c", BOMB).stderr
    assert session.kill_all() > 100
    session.on_exec(recorder := Recorder(lambda seen: 13 if b"evil" in seen.program else 0))
    session.write("/tmp/evil", session.read(OWN), mode=0o755, user=AGENT)
    line = STARVE.format("/bin/true; ./evil") + "; kill 0"
    act(session, "hold", "sh", "-c", line)
    assert recorder.names.count("true") == 50
    assert recorder.names.count("evil") == 50
    assert b"evil.mark" not in {entry.path for entry in session.list("/tmp")}


def test_a_flood_of_execs_is_told_whole(session: Session) -> None:
    session.on_exec(recorder := Recorder())
    assert act(session, "log", OWN, "flood", "/bin/true", "5000").exit_code == 0
    assert recorder.names.count("true") == 5000
    numbers = [each.number for each in recorder.all]
    assert numbers == sorted(set(numbers))
    assert {each.number for each in recorder.all} == set(recorder.ends)


def test_an_exec_that_is_held_when_the_harness_dies_never_runs(
    session: Session, engine: Engine
) -> None:
    asked = Event()

    def die(seen: Exec) -> int:
        if not seen.first:
            asked.set()
            session._stream.close()  # type: ignore[attr-defined]
        return 0

    session.on_exec(Recorder(die))
    with pytest.raises(SessionLostError):
        act(session, "hold", "sh", "-c", "/bin/sleep 600; true")
    assert asked.is_set()
    subprocess.run(["docker", "wait", session.container], check=True, capture_output=True)


def test_a_run_records_execs_with_their_action(session: Session, tmp_path: Path) -> None:
    task = LOADED.task.model_copy(update={"final": {}})
    lines = ["python -c 'import os; os.system(\"git --version\")'", "true"]
    agent = script(command(lines[0]), LOOK, command(lines[1]), ("git_diff", {}), FINAL)
    workspace = Workspace(session, task, LOADED.worktree)
    with TraceWriter(tmp_path / "trace.jsonl") as writer:
        run(agent, workspace, DenyAll(), writer, STARTED.model_copy(update={"coverage": "exec"}))
    stored = traces.read(tmp_path / "trace.jsonl")
    assert stored.problem == ""
    seen: dict[str | None, list[str]] = {}
    observed: set[str | None] = set()
    for entry in stored.entries:
        if isinstance(entry.event, Observed):
            observed.add(entry.action_id)
        elif isinstance(entry.event, Executed):
            assert entry.action_id not in observed
            seen.setdefault(entry.action_id, []).append(Path(entry.event.argv[0]).name)
            assert entry.event.verdict == "allowed"
            by_git = entry.event.argv[0] == "git" and len(entry.event.argv) > 2
            assert entry.event.by_harness == by_git
        assert not isinstance(entry.event, ExecsLost)
    first, second, third = seen.values()
    assert first == ["bash", "python", "sh", "git"] or first == ["bash", "python", "git"]
    assert second == ["bash"]
    assert third == ["git", "git"]
