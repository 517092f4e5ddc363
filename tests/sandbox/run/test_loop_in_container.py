"""The loop with a real container, and what agents do to one."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import JsonValue

from sandbox.agents.scripted import ScriptedAgent
from sandbox.container import engines
from sandbox.container.engines.base import Engine, Limits, Session, SessionSpec
from sandbox.model import places
from sandbox.model import trace as traces
from sandbox.model.action import Request
from sandbox.model.briefing import Reply
from sandbox.model.errors import SessionLostError
from sandbox.model.session import AGENT, Command
from sandbox.model.task import ScriptedAction
from sandbox.model.trace import Trace, TraceWriter
from sandbox.rules.policy.approvers import DenyAll
from sandbox.run.actions.workspace import Workspace
from sandbox.run.loop import run
from sandbox.tasks import library
from sandbox.tasks.images import Images
from tests.sandbox.runs import FINAL, STARTED, command, script

pytestmark = pytest.mark.engine

LOADED = library.load("humanize/file-sizes")
LIMITS = Limits(memory_bytes=256 << 20, processes=64)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    engine = engines.connect()
    yield engine
    engine.close()


@pytest.fixture
def session(engine: Engine) -> Iterator[Session]:
    image = Images(engine, places.cache()).ensure(LOADED, lambda _: None)
    with engine.start(SessionSpec(image.tag, limits=LIMITS)) as session:
        yield session


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


@pytest.fixture
def container(session: Session, tmp_path: Path) -> Container:
    return Container(session, tmp_path)


def test_every_action_works(container: Container) -> None:
    patch = "--- a/new.py\n+++ b/new.py\n@@ -1 +1,2 @@\n x = 1\n+y = 2\n"
    replies = container.act(
        ("list_files", {}),
        ("read_file", {"path": "pyproject.toml"}),
        ("search_repo", {"pattern": "^def naturalsize", "glob": "*.py"}),
        ("write_file", {"path": "new.py", "content": "x = 1\n"}),
        ("apply_patch", {"patch": patch}),
        command("stat -c %u new.py; pwd; python -c 'import new; print(new.y)'"),
        ("run_tests", {}),
        ("git_diff", {}),
        FINAL,
    )
    assert [reply.error_code for reply in replies] == [None] * 9
    assert replies[2].result["matches"]
    assert replies[5].result["stdout"] == f"{AGENT.uid}\n{LOADED.worktree}\n2\n"
    assert isinstance(replies[6].result["passed"], int)
    assert replies[6].result["passed"] > 0
    paths = replies[7].result["paths"]
    assert {"path": "new.py", "status": "??", "owner": "unclaimed", "lines": []} in paths  # type: ignore[operator]
    assert not any(path["status"] == "!!" for path in paths)  # type: ignore[index, union-attr, call-overload]
    ended = container.trace.entries[-1].event
    assert ended.kind == "run_ended"
    assert ended.reason == "final_answer"
    assert ended.memory_peak_bytes
    assert ended.memory_peak_bytes > 1 << 20


def test_a_fork_bomb_ends_with_its_time(container: Container) -> None:
    bomb, after = container.act(
        ("run_command", {"command": "f() { f | f & }; f; sleep 99", "timeout_seconds": 1}),
        command("echo alive"),
    )
    assert bomb.error_code == "timeout"
    assert after.result["stdout"] == "alive\n"


def test_a_flood_of_output_is_cut(container: Container) -> None:
    (reply,) = container.act(command("head -c 1000000000 /dev/zero"))
    assert reply.result["exit_code"] == 0
    assert reply.result["stdout_truncated"] is True
    assert len(str(reply.result["stdout"])) == container.workspace.task.limits.observation_bytes


def test_memory_that_runs_out_is_named(container: Container) -> None:
    eater, after = container.act(command("python -c \"x = b'x' * (1 << 30)\""), command("true"))
    assert eater.result["out_of_memory"] is True
    assert after.status == "ok"


def test_what_ignores_signals_and_daemons_is_ended(container: Container) -> None:
    stubborn, daemon = container.act(
        ("run_command", {"command": "trap '' TERM; sleep 99 & sleep 99", "timeout_seconds": 0.5}),
        command("setsid -f sleep 99 < /dev/null > /dev/null 2>&1"),
    )
    assert stubborn.error_code == "timeout"
    assert daemon.result["left_running"] == 1
    ended = container.trace.entries[-1].event
    assert ended.kind == "run_ended"
    assert ended.killed_processes >= 1
    assert container.session.usage().processes == 0


def test_what_is_not_the_agents_is_refused(container: Container) -> None:
    from_root = Command(
        ("/bin/sh", "-c", "mkdir root; echo x > root/file; chmod 600 root/file"),
        LOADED.worktree,
        user=replace(AGENT, uid=0, gid=0),
    )
    assert container.session.run(from_root).exit_code == 0
    replies = container.act(
        ("read_file", {"path": "root/file"}),
        ("write_file", {"path": "root/file", "content": ""}),
        ("write_file", {"path": "root/new", "content": ""}),
        ("apply_patch", {"patch": "--- a/root/file\n+++ b/root/file\n@@ -1 +1 @@\n-x\n+y\n"}),
    )
    assert [reply.error_code for reply in replies] == ["permission_denied"] * 4


def test_a_container_that_goes_away_is_recorded(container: Container, engine: Engine) -> None:
    class Remover(ScriptedAgent):
        def next(self, reply: Reply | None, timeout: float) -> Request | None:
            engine.remove_container(container.session.container)
            return super().next(reply, timeout)

    with pytest.raises(SessionLostError):
        container.run(Remover([ScriptedAction(action="list_files")]))
    assert container.trace.problem == ""
    ended = container.trace.entries[-1].event
    assert ended.kind == "run_ended"
    assert ended.reason == "session_lost"
