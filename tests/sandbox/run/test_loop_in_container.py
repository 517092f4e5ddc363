"""The loop with a real container, and what agents do to one."""

from dataclasses import replace

import pytest

from sandbox.agents.scripted import ScriptedAgent
from sandbox.container.engines.base import Engine
from sandbox.model.action import Request
from sandbox.model.briefing import Reply
from sandbox.model.errors import SessionLostError
from sandbox.model.session import AGENT, Command
from sandbox.model.task import ScriptedAction
from tests.sandbox.run.containers import LOADED, Container
from tests.sandbox.runs import FINAL, command

pytestmark = pytest.mark.engine


@pytest.mark.slow
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
    assert {
        "path": "new.py",
        "status": "??",
        "owner": "unclaimed",
        "lines": [],
        "files": None,
    } in paths  # type: ignore[operator]
    assert not any(path["status"] == "!!" for path in paths)  # type: ignore[index, union-attr, call-overload]
    ended = container.trace.entries[-1].event
    assert ended.kind == "run_ended"
    assert ended.reason == "final_answer"
    assert ended.memory_peak_bytes
    assert ended.memory_peak_bytes > 1 << 20


@pytest.mark.slow
def test_a_fork_bomb_ends_with_its_time(container: Container) -> None:
    bomb, after = container.act(
        ("run_command", {"command": "f() { f | f & }; f; sleep 99", "timeout_seconds": 1}),
        command("echo alive"),
    )
    assert bomb.error_code == "timeout"
    assert after.result["stdout"] == "alive\n"


@pytest.mark.slow
def test_a_flood_of_output_is_cut(container: Container) -> None:
    (reply,) = container.act(command("head -c 1000000000 /dev/zero"))
    assert reply.result["exit_code"] == 0
    assert reply.result["stdout_truncated"] is True
    assert len(str(reply.result["stdout"])) == container.workspace.task.limits.observation_bytes


def test_memory_that_runs_out_is_named(container: Container) -> None:
    eater, after = container.act(command("python -c \"x = b'x' * (1 << 30)\""), command("true"))
    assert eater.result["out_of_memory"] is True
    assert after.status == "ok"


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
