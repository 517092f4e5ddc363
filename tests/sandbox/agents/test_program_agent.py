"""Agents that are programs of the host, the well-behaved and the hostile."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sandbox.agents.base import Departure, Garbage
from sandbox.agents.log import LOG_LIMIT
from sandbox.agents.program_agent import CommandAgent
from sandbox.model.action import Request
from sandbox.model.briefing import Briefing, Ended, Reply
from sandbox.model.errors import AgentError
from sandbox.model.task import RunLimits

BRIEFING = Briefing(
    run="r1",
    task="t/x",
    title="T",
    prompt="P",
    worktree="/home/agent/x",
    actions=(),
    final={},
    limits=RunLimits(),
)
OVER = Ended(ended="final_answer")
ASK = 'import sys, json; print(json.dumps({"id": "1", "action": "git_diff"}), flush=True)'
PATIENCE = 20.0


def reply(identifier: str, message: str = "") -> Reply:
    return Reply(id=identifier, status="ok", error_code=None, message=message, result={})


@contextmanager
def running(program: str, log: Path | None = None, grace: float = 5.0) -> Iterator[CommandAgent]:
    agent = CommandAgent(f"{sys.executable} -S -c {shlex.quote(program)}", log, grace)
    try:
        agent.begin(BRIEFING)
        yield agent
    finally:
        agent.close(None, OVER)


def gone(process: int, patience: float = 10.0) -> bool:
    """Whether a process ends; one that nobody has reaped counts as ended."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


def test_a_conversation(tmp_path: Path) -> None:
    program = """
import json, os, sys
briefing = json.loads(input())
log = lambda *words: print(*words, file=sys.stderr)
log(briefing["task"], os.environ["SANDBOX_TASK"], os.environ["SANDBOX_RUN"], os.getcwd())
print(json.dumps({"id": "1", "action": "git_diff"}), flush=True)
log(json.loads(input())["id"])
print(json.dumps({"id": "2", "action": "final_answer", "arguments": {"fields": {}}}), flush=True)
log(json.loads(input())["message"])
log(input())
log(sys.stdin.read() == "")
"""
    with running(program, tmp_path / "log") as agent:
        assert agent.next(None, PATIENCE) == Request(id="1", action="git_diff")
        second = agent.next(reply("1"), PATIENCE)
        assert isinstance(second, Request)
        assert second.action == "final_answer"
        agent.close(reply("2", "well done"), OVER)
    assert (tmp_path / "log").read_text().splitlines() == [
        f"t/x t/x r1 {Path.cwd()}",
        "1",
        "well done",
        '{"ended":"final_answer","message":""}',
        "True",
    ]


@pytest.mark.parametrize("command", ["no-such-program-anywhere", "/", "/etc/passwd", "''"])
def test_a_command_that_cannot_start(command: str) -> None:
    agent = CommandAgent(command)
    with pytest.raises(AgentError, match="could not be started"):
        agent.begin(BRIEFING)
    agent.close(None, OVER)


@pytest.mark.parametrize("command", ["", "  ", "'"])
def test_a_command_line_that_is_none(command: str) -> None:
    with pytest.raises(AgentError, match="agent's command"):
        CommandAgent(command)


def test_an_early_exit_is_named() -> None:
    with running("raise SystemExit(3)") as agent:
        assert agent.next(None, PATIENCE) is None
        assert agent.ending() == Departure("The agent exited with status 3.", 3)


def test_a_death_by_signal_is_named() -> None:
    with running("import os; os.kill(os.getpid(), 9)") as agent:
        assert agent.next(None, PATIENCE) is None
        assert agent.ending() == Departure("The agent was ended by SIGKILL.", -9)


def test_what_was_said_before_the_exit_is_heard() -> None:
    with running('import os; os.write(1, b\'{"id": "1", "action": "git_diff"}\')') as agent:
        assert agent.next(None, PATIENCE) == Request(id="1", action="git_diff")
        assert agent.next(reply("1"), PATIENCE) is None


def test_garbage_is_handed_on_and_does_not_end_the_conversation() -> None:
    with running(f"import os; os.write(1, b'\\xff\\n\\0\\n'); {ASK}") as agent:
        assert isinstance(agent.next(None, PATIENCE), Garbage)
        assert isinstance(agent.next(None, PATIENCE), Garbage)
        assert isinstance(agent.next(None, PATIENCE), Request)


def test_a_line_of_100_megabytes_is_refused() -> None:
    program = f"""
import os
for _ in range(100):
    sent = 0
    while sent < 1 << 20: sent += os.write(1, b"x" * ((1 << 20) - sent))
print(flush=True)
{ASK}
"""
    with running(program) as agent:
        found = agent.next(None, PATIENCE)
        assert isinstance(found, Garbage)
        assert "104857600 bytes; 8388608 are allowed" in found.problem
        assert isinstance(agent.next(None, PATIENCE), Request)


def test_an_agent_may_close_its_input() -> None:
    with running(f"import os; os.close(0); {ASK}; {ASK}") as agent:
        assert isinstance(agent.next(None, PATIENCE), Request)
        assert isinstance(agent.next(reply("1", "x" * 1_000_000), PATIENCE), Request)
        assert agent.next(reply("1", "x" * 1_000_000), PATIENCE) is None


def test_an_agent_that_closes_its_output_has_ended() -> None:
    with running("import os, time; os.close(1); time.sleep(99)", grace=0.1) as agent:
        assert agent.next(None, PATIENCE) is None
        assert "closed its output" in agent.ending().says
    assert agent._process is not None
    assert gone(agent._process.pid)


def test_a_silent_agent_is_given_up() -> None:
    with (
        running("import time; time.sleep(99)", grace=0.1) as agent,
        pytest.raises(TimeoutError, match="nothing for 0 seconds"),
    ):
        agent.next(None, 0.05)


def test_a_flood_of_errors_does_not_block_and_is_capped(tmp_path: Path) -> None:
    program = f"import os\nfor _ in range(40): os.write(2, b'e' * (1 << 20))\n{ASK}"
    log = tmp_path / "log"
    with running(program, log) as agent:
        assert isinstance(agent.next(None, PATIENCE), Request)
    assert LOG_LIMIT <= log.stat().st_size < LOG_LIMIT + 100
    assert log.read_bytes().endswith(b"[the rest was dropped]\n")


def test_a_log_that_cannot_be_written_does_not_block(tmp_path: Path) -> None:
    program = f"import os\nfor _ in range(4): os.write(2, b'e' * (1 << 20))\n{ASK}"
    with running(program, tmp_path / "missing" / "log") as agent:
        assert isinstance(agent.next(None, PATIENCE), Request)


def test_many_requests_at_once_are_handed_on_in_order() -> None:
    program = """
import json
for number in range(3000):
    print(json.dumps({"id": str(number), "action": "git_diff"}))
"""
    with running(program) as agent:
        answer = None
        for number in range(3000):
            request = agent.next(answer, PATIENCE)
            assert isinstance(request, Request)
            assert request.id == str(number)
            answer = reply(request.id, "x" * 1000)
        assert agent.next(answer, PATIENCE) is None


def test_an_agent_that_never_reads_does_not_block_the_harness() -> None:
    with running(f"{ASK}\nimport time; time.sleep(99)", grace=0.1) as agent:
        assert isinstance(agent.next(None, PATIENCE), Request)
        with pytest.raises(TimeoutError):
            agent.next(reply("1", "x" * (1 << 20)), 0.05)


def test_the_children_die_with_the_agent(tmp_path: Path) -> None:
    program = f"""
import os, signal, sys, time
child = os.fork()
if not child:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(99)
print(child, file=sys.stderr, flush=True)
{ASK}
"""
    log = tmp_path / "log"
    with running(program, log) as agent:
        assert isinstance(agent.next(None, PATIENCE), Request)
    assert gone(int(log.read_text()))


def test_no_descriptor_of_the_harness_is_inherited(tmp_path: Path) -> None:
    held = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(held, True)
    try:
        program = f"import os, sys; print(os.listdir('/proc/self/fd'), file=sys.stderr); {ASK}"
        with running(program, tmp_path / "log") as agent:
            agent.next(None, PATIENCE)
    finally:
        os.close(held)
    assert (tmp_path / "log").read_text().strip() == "['0', '1', '2', '3']"


def test_an_agent_that_ignores_the_end_is_killed() -> None:
    program = f"import signal; signal.signal(15, signal.SIG_IGN); {ASK}\nwhile True: pass"
    with running(program, grace=0.1) as agent:
        assert isinstance(agent.next(None, PATIENCE), Request)
    assert agent._process is not None
    assert agent._process.returncode == -9


def test_an_agent_that_talks_without_end_is_killed() -> None:
    with running("while True: print('x' * 1000)", grace=0.1) as agent:
        assert isinstance(agent.next(None, PATIENCE), Garbage)
    assert agent._process is not None
    assert agent._process.returncode == -9


LEAVES = """
import os, sys, time
read, write = os.pipe()
if not os.fork():
    os.setsid()
    if os.fork():
        os._exit(0)
    os.close(0), os.close(1), os.close(2)
    os.write(write, b"%d" % os.getpid())
    time.sleep(600)
print(os.read(read, 20).decode(), file=sys.stderr, flush=True)
"""


def test_a_daemon_in_a_session_of_its_own_ends_too(tmp_path: Path) -> None:
    with running(LEAVES + ASK + "; time.sleep(600)", tmp_path / "log", grace=0) as agent:
        assert isinstance(agent.next(None, PATIENCE), Request)
    assert gone(int((tmp_path / "log").read_text()))


def test_nothing_outlives_a_harness_that_is_killed(tmp_path: Path) -> None:
    harness = f"""
import sys, os, signal, time
from sandbox.agents.program_agent import CommandAgent
from tests.sandbox.agents.test_program_agent import ASK, BRIEFING, LEAVES
from pathlib import Path
import shlex
program = LEAVES + ASK + "; time.sleep(600)"
agent = CommandAgent(f"{{sys.executable}} -S -c {{shlex.quote(program)}}", Path("{tmp_path}/log"))
agent.begin(BRIEFING)
agent.next(None, 20)
log = Path("{tmp_path}/log")
while not (log.exists() and log.read_text().endswith("\\n")):
    time.sleep(0.01)
os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, "-c", harness], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert gone(int((tmp_path / "log").read_text()))
