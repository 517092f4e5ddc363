"""The loop: what each kind of agent makes of a run, and what the trace says of it."""

import os
import shlex
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest
from pydantic import JsonValue

from sandbox import trace as traces
from sandbox.actions.workspace import Workspace
from sandbox.agents.base import Agent
from sandbox.agents.command import CommandAgent
from sandbox.agents.scripted import ScriptedAgent, null_agent
from sandbox.engines.base import Session
from sandbox.errors import AgentError, SessionLostError, StoreError
from sandbox.model.event import Entry, RunEnded, RunStarted
from sandbox.model.task import ScriptedAction, Task
from sandbox.policy.approvers import Approver, ScriptedApprover
from sandbox.run import run
from sandbox.trace import TraceWriter
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

    @property
    def root(self) -> Path:
        return self.folder / "tree"

    def run(self, agent: Agent) -> RunEnded:
        workspace = Workspace(cast(Session, self.session), self.task, str(self.root))
        approver = self.approver or ScriptedApprover(self.task.policy)
        with TraceWriter(self.folder / "trace.jsonl") as writer:
            return run(agent, workspace, approver, writer, STARTED)

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


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "tree").mkdir()
    return World(tmp_path)


def script(*actions: tuple[str, dict[str, JsonValue]]) -> ScriptedAgent:
    return ScriptedAgent(
        tuple(ScriptedAction(action=name, arguments=arguments) for name, arguments in actions)
    )


FINAL: tuple[str, dict[str, JsonValue]] = ("final_answer", {"fields": {}})
LOOK: tuple[str, dict[str, JsonValue]] = ("list_files", {})


def test_a_run_from_start_to_answer(world: World) -> None:
    agent = script(
        ("write_file", {"path": "a", "content": "1\n"}),
        ("run_command", {"command": "cat a"}),
        FINAL,
        LOOK,
    )
    ended = world.run(agent)
    assert world.kinds == [
        "run_started",
        "action",
        "observation",
        "files_changed",
        "action",
        "observation",
        "action",
        "final",
        "observation",
        "run_ended",
    ]
    assert [entry.action_id for entry in world.entries] == [
        None, "1", "1", "1", "2", "2", "3", "3", "3", None,
    ]  # fmt: skip
    assert (ended.reason, ended.turns) == ("final_answer", 3)
    assert ended == world.ended
    assert ended.memory_peak_bytes == 1 << 20
    assert agent.replies[1].result["stdout"] == "1\n"
    assert agent.replies[2].result == {"accepted": True}
    assert len(agent.replies) == 3


def test_an_agent_that_does_nothing(world: World) -> None:
    assert world.run(null_agent()).reason == "agent_exited"
    assert world.kinds == ["run_started", "run_ended"]


def test_what_is_not_understood_is_answered(world: World) -> None:
    agent = world.act(
        ("red_file", {"path": "a"}),
        ("read_file", {"pth": "a"}),
        ("read_file", {"path": 3}),
        ("read_file", {"path": "a", "first_line": 0}),
        ("run_command", {"command": ""}),
        LOOK,
    )
    assert world.codes == ["unknown_tool", *["bad_arguments"] * 4, "ok"]
    messages = [reply.message or "" for reply in agent.replies]
    assert "did you mean read_file" in messages[0]
    assert "path: Field required" in messages[1]
    assert "did you mean path?" in messages[1]
    assert "path: Input should be a valid string" in messages[2]
    assert "first_line: Input should be greater than or equal to 1" in messages[3]


# Final answers


ANSWER: JsonValue = {
    "text": {"type": "string", "expect": "SECRET"},
    "count": {"type": "integer", "expect": 41},
    "ratio": {"type": "number"},
    "sure": {"type": "boolean"},
    "names": {"type": "list"},
}
GOOD: dict[str, JsonValue] = {"text": "", "count": 1, "ratio": 1, "sure": True, "names": []}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"text": 1}, "text must be a string, not integer"),
        ({"count": True}, "count must be a integer, not boolean"),
        ({"count": 1.0}, "count must be a integer, not number"),
        ({"count": "41"}, "count must be a integer, not string"),
        ({"ratio": False}, "ratio must be a number, not boolean"),
        ({"sure": 1}, "sure must be a boolean, not integer"),
        ({"names": {}}, "names must be a list, not object"),
        ({"names": None}, "names must be a list, not null"),
        ({"nmes": []}, "nmes is unknown; did you mean names?"),
        ({"text": "absent"}, "text is missing"),
    ],
)
def test_a_final_answer_of_another_shape_can_be_corrected(
    world: World, change: dict[str, JsonValue], problem: str
) -> None:
    world.task = task(final=ANSWER)
    wrong = {key: value for key, value in {**GOOD, **change}.items() if value != "absent"}
    agent = world.act(("final_answer", {"fields": wrong}), ("final_answer", {"fields": GOOD}))
    assert world.codes == ["bad_arguments", "ok"]
    message = agent.replies[0].message or ""
    assert problem in message
    assert "SECRET" not in message
    assert "41" not in message.replace(problem, "")
    finals = [entry.event for entry in world.entries if entry.event.kind == "final"]
    assert [final.fields for final in finals] == [GOOD]
    assert world.ended.reason == "final_answer"


# Policy


POLICY: JsonValue = {
    "rules": [
        {"id": "no-push", "match": {"command": "git push"}, "decision": "deny", "reason": "No."},
        {
            "id": "network",
            "match": {"command": "^echo net"},
            "decision": "ask",
            "scope": "network",
            "reason": "It needs the network.",
        },
        {
            "id": "docs",
            "match": {"action": "write_file", "path": "docs/**"},
            "decision": "ask",
            "scope": "docs",
            "reason": "Docs are another's.",
        },
    ],
    "approver": [
        {"scope": "network", "command": "once", "answer": {"approved": True}},
        {"scope": "network", "command": "always", "answer": {"approved": True, "lasts": "run"}},
        {
            "scope": "network",
            "command": "never",
            "answer": {"approved": False, "reason": "Not now.", "fallback_command": "echo off"},
        },
        {"scope": "docs", "answer": {"approved": True}},
    ],
}


def command(line: str) -> tuple[str, dict[str, JsonValue]]:
    return ("run_command", {"command": line})


def request(line: str, scope: str = "network") -> tuple[str, dict[str, JsonValue]]:
    return ("request_approval", {"scope": scope, "command": line, "reason": "because"})


def test_what_is_denied_is_not_run(world: World) -> None:
    world.task = task(policy=POLICY)
    agent = world.act(command("touch x; git push"))
    assert world.codes == ["policy_denied"]
    assert agent.replies[0].message == "Rule no-push: No."
    assert not (world.root / "x").exists()


def test_a_grant_is_asked_for_used_and_used_up(world: World) -> None:
    world.task = task(policy=POLICY)
    agent = world.act(
        command("echo net once"),
        request("echo net once"),
        command("echo net once "),
        command("echo net once"),
        command("echo net once"),
    )
    assert world.codes == [
        "approval_required", "ok", "approval_required", "ok", "approval_required",
    ]  # fmt: skip
    assert "scope 'network' and the command 'echo net once'" in (agent.replies[0].message or "")
    decided = [
        (entry.event.granted_at, entry.sequence, entry.action_id)
        for entry in world.entries
        if entry.event.kind == "approval_decided"
    ]
    (first, granted_at, _), (second, _, user) = decided
    assert (first, second, user) == (None, granted_at, "4")
    asked = [entry.event for entry in world.entries if entry.event.kind == "approval_asked"]
    assert len(asked) == 1


def test_a_grant_for_the_run_stays(world: World) -> None:
    world.task = task(policy=POLICY)
    line = "echo net always"
    world.act(request(line), command(line), command(line))
    assert world.codes == ["ok"] * 3


def test_after_a_denial_the_same_command_is_denied(world: World) -> None:
    world.task = task(policy=POLICY)
    agent = world.act(request("echo net never"), command("echo net never"))
    assert world.codes == ["ok", "approval_denied"]
    assert agent.replies[0].result == {
        "approved": False,
        "reason": "Not now.",
        "fallback_command": "echo off",
    }
    assert agent.replies[1].message == "It was denied: Not now. Do this instead: echo off"


def test_other_actions_ask_too(world: World) -> None:
    world.task = task(policy=POLICY)
    write = ("write_file", {"path": "docs//a", "content": ""})
    agent = world.act(write, request("write_file docs/a", "docs"), write)  # type: ignore[arg-type]
    assert world.codes == ["approval_required", "ok", "ok"]
    assert "'write_file docs/a'" in (agent.replies[0].message or "")


# Budgets


def test_the_turns_are_limited(world: World) -> None:
    world.task = task(limits={"turns": 3})
    agent = world.act(LOOK, LOOK, LOOK, FINAL, LOOK)
    assert world.codes == ["ok", "ok", "ok", "budget_exhausted"]
    assert (world.ended.reason, world.ended.turns) == ("turn_limit", 3)
    assert agent.replies[3].message == "The 3 actions are used up."


def test_the_output_is_limited(world: World) -> None:
    world.task = task(limits={"output_bytes": 2048})
    agent = world.act(command("head -c 900 /dev/zero | tr '\\0' x"), command("seq 500"), LOOK)
    assert world.codes == ["ok", "budget_exhausted"]
    assert world.ended.reason == "output_limit"
    assert agent.replies[1].result == {}


def test_the_time_bounds_a_command(world: World) -> None:
    world.task = task(limits={"seconds": 0.4})
    agent = world.act(command("sleep 99"), LOOK, LOOK)
    assert world.codes == ["timeout", "budget_exhausted"]
    assert world.ended.reason == "time_limit"
    assert agent.replies[1].message == "The 0.4 seconds are over."


def test_the_time_bounds_an_agent(world: World) -> None:
    world.task = task(limits={"seconds": 0.2})
    assert world.program("import time; time.sleep(99)", grace=0.1).reason == "time_limit"


# Programs that misbehave


ASK = 'print(\'{"id": "%d", "action": "list_files"}\' % number, flush=True)'


def test_a_program_that_behaves(world: World) -> None:
    ended = world.program(
        """
import json, sys
briefing = json.loads(input())
assert [action["name"] for action in briefing["actions"]][0] == "read_file"
assert briefing["limits"]["turns"] == 100 and briefing["final"] == {}
def act(identifier, action, **arguments):
    print(json.dumps({"id": identifier, "action": action, "arguments": arguments}), flush=True)
    reply = json.loads(input())
    assert reply["id"] == identifier
    return reply
assert act("a", "run_command", command="echo hi")["result"]["stdout"] == "hi\\n"
assert act("b", "final_answer", fields={})["result"] == {"accepted": True}
assert json.loads(input()) == {"ended": "final_answer", "message": ""}
assert sys.stdin.read() == ""
print("fine", file=sys.stderr)
"""
    )
    assert (world.folder / "agent.log").read_text() == "fine\n"
    assert ended.reason == "final_answer"


def test_the_expected_answer_is_not_told(world: World) -> None:
    world.task = task(final=ANSWER)
    world.program("import sys; sys.stderr.write(input())")
    log = (world.folder / "agent.log").read_text()
    assert '"final":{"text":"string","count":"integer"' in log
    assert "SECRET" not in log
    assert "src/a.py" not in log


def test_a_program_that_cannot_start(world: World) -> None:
    with pytest.raises(AgentError, match="no-such-program"):
        world.run(CommandAgent("no-such-program"))
    assert world.kinds == ["run_started", "run_ended"]
    assert world.ended.reason == "agent_exited"
    assert "no-such-program: No such file" in world.ended.message


def test_a_program_that_exits_early(world: World) -> None:
    ended = world.program("raise SystemExit(3)")
    assert (ended.reason, ended.message) == ("agent_exited", "The agent exited with status 3.")


def test_a_program_that_is_silent(world: World) -> None:
    world.task = task(limits={"silence_seconds": 0.2})
    ended = world.program("import time; time.sleep(99)", grace=0.1)
    assert ended.reason == "agent_silent"


def test_garbage_is_answered_and_forgiven(world: World) -> None:
    source = f"import os\nos.write(1, b'\\xff\\n{{\\n' + b'[' * 99999 + b'\\n')\nnumber = 1\n{ASK}"
    assert world.program(source).reason == "agent_exited"
    assert world.codes == ["bad_request"] * 3 + ["ok"]
    action = world.entries[1].event
    assert action.kind == "action"
    assert (action.name, action.arguments) == ("?", {"line": "�"})


def test_garbage_without_end_ends_the_run(world: World) -> None:
    ended = world.program("while True: print('Thinking...', flush=True)", grace=0.1)
    assert ended.reason == "agent_garbage"
    assert world.codes == ["bad_request"] * 10


def test_a_line_of_100_megabytes(world: World) -> None:
    source = (
        f"import os\nfor _ in range(100): os.write(1, b'x' * (1 << 20))\nprint()\nnumber = 1\n{ASK}"
    )
    assert world.program(source).reason == "agent_exited"
    assert world.codes == ["bad_request", "ok"]


def test_an_id_may_be_used_once(world: World) -> None:
    world.program(f"number = 1\n{ASK}\n{ASK}\nnumber = 2\n{ASK}")
    assert world.codes == ["ok", "bad_request", "ok"]


def test_requests_without_waiting_are_answered_in_order(world: World) -> None:
    source = f"""
import json, sys
for number in range(50): {ASK}
input()
print([json.loads(input())["id"] for number in range(50)], file=sys.stderr)
"""
    world.program(source)
    expected = str([str(number) for number in range(50)])
    assert (world.folder / "agent.log").read_text().strip() == expected


def test_a_flood_of_errors(world: World) -> None:
    source = f"import os\nfor _ in range(8): os.write(2, b'x' * (1 << 20))\nnumber = 1\n{ASK}"
    assert world.program(source).reason == "agent_exited"
    assert world.codes == ["ok"]


@pytest.mark.parametrize("descriptor", [0, 1])
def test_a_program_that_closes_a_pipe(world: World, descriptor: int) -> None:
    source = f"import os\nnumber = 1\n{ASK}\nos.close({descriptor})"
    assert world.program(source).reason == "agent_exited"
    assert world.codes == ["ok"]


# What ends a run from outside


def test_a_lost_session_is_recorded_and_raised(world: World) -> None:
    world.session.lost = SessionLostError("The container is gone.")
    with pytest.raises(SessionLostError, match="gone"):
        world.act(LOOK, command("true"), LOOK)
    assert world.kinds == ["run_started", "action", "observation", "action", "run_ended"]
    assert (world.ended.reason, world.ended.message) == ("session_lost", "The container is gone.")


def test_a_session_that_is_lost_at_the_very_end(world: World) -> None:
    world.session.lost = SessionLostError("The container is gone.")
    with pytest.raises(SessionLostError):
        world.act(FINAL)
    assert world.ended.reason == "session_lost"


def test_an_interruption_is_recorded_and_raised(world: World) -> None:
    world.session.lost = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        world.act(command("true"))
    assert world.ended.reason == "interrupted"


def test_an_interruption_ends_a_waiting_agent(world: World) -> None:
    def interrupt() -> None:
        while not (world.folder / "agent.log").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), 2)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        world.program("import time; time.sleep(99)", grace=0.1)
    thread.join()
    assert world.ended.reason == "interrupted"


def test_a_defect_of_the_harness_is_recorded_and_raised(world: World) -> None:
    world.session.lost = StoreError("The disk is full.")
    with pytest.raises(StoreError):
        world.act(command("true"))
    assert world.ended.reason == "harness_error"
    assert "The disk is full" in world.ended.message
