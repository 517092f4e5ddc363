"""A container's way to its world's registry: by grant, for one command, and with faults."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import JsonValue

from sandbox.container.engines.base import Engine, Limits, Session, SessionSpec
from sandbox.grading.metrics.action_calls import calls
from sandbox.grading.metrics.recovery import rates
from sandbox.grading.metrics.steps import redundant
from sandbox.model import places
from sandbox.model import trace as traces
from sandbox.model.briefing import Reply
from sandbox.model.decision import Policy
from sandbox.model.event import Entry, FaultInjected, NetworkConnected, RegistryRequested
from sandbox.model.report import Ratio
from sandbox.model.session import Command
from sandbox.model.trace import TraceWriter
from sandbox.rules.policy.approvers import AllowAll, Approver, ScriptedApprover
from sandbox.run.actions.workspace import Workspace
from sandbox.run.loop import run
from sandbox.tasks import library
from sandbox.tasks.images import Images
from tests.sandbox.container.mirror.packages import Fault, Files, registry, wheel
from tests.sandbox.runs import STARTED, command, script

pytestmark = pytest.mark.engine

LOADED = library.load("humanize/file-sizes")
LIMITS = Limits(memory_bytes=256 << 20, processes=64)
PORT = 4873
INSTALL = f"pip install --target /tmp/got --index-url http://localhost:{PORT}/simple/ needed"
PLAIN = "pip install --target /tmp/got needed"
PROBE = f"python -c 'import socket; socket.create_connection((\"127.0.0.1\", {PORT}), 5)'"
ASK: list[JsonValue] = [
    {
        "id": "pip-asks",
        "when": {"program": "pip", "network": True},
        "decision": "ask",
        "scope": "network",
        "reason": "The network is used only with permission.",
    }
]
DENIED: JsonValue = [{"scope": "network", "answer": {"approved": False, "reason": "Not today."}}]
ONCE: JsonValue = [{"scope": "network", "answer": {"approved": True}}]


@pytest.fixture
def session(engine: Engine) -> Iterator[Session]:
    image = Images(engine, places.cache()).ensure(LOADED, lambda _: None)
    with engine.start(SessionSpec(image.tag, limits=LIMITS)) as session:
        yield session


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return wheel(tmp_path_factory.mktemp("files"), "needed", "2.0")


class World:
    def __init__(self, session: Session, files: Files, folder: Path) -> None:
        self.session, self.files, self.path = session, files, folder / "trace.jsonl"
        self.faults: list[Fault] = []
        self.rules: list[JsonValue] = ASK
        self.answers = DENIED
        self.approver: Approver | None = None

    def act(self, *actions: tuple[str, dict[str, JsonValue]]) -> list[Reply]:
        said = {"rules": self.rules, "approver": self.answers}
        policy = Policy.model_validate_json(json.dumps(said))
        offered = registry(self.files, *self.faults)
        world = LOADED.task.world.model_copy(update={"registry": offered})
        task = LOADED.task.model_copy(
            update={"world": world, "policy": policy, "rules": (), "final": {}}
        )
        workspace = Workspace(self.session, task, LOADED.worktree, packages=self.files)
        agent = script(*actions)
        with TraceWriter(self.path) as writer:
            run(agent, workspace, self.approver or ScriptedApprover(policy), writer, STARTED)
        return agent.replies

    @property
    def entries(self) -> tuple[Entry, ...]:
        return traces.read(self.path).entries

    def actions_with(self, kind: type) -> list[str | None]:
        return [entry.action_id for entry in self.entries if isinstance(entry.event, kind)]


@pytest.fixture
def world(session: Session, files: Files, tmp_path: Path) -> World:
    return World(session, files, tmp_path)


def approval(line: str) -> tuple[str, dict[str, JsonValue]]:
    return ("request_approval", {"scope": "network", "command": line, "reason": "It is missing."})


def hidden(*lines: str) -> tuple[str, dict[str, JsonValue]]:
    """Commands of which the action's text says nothing."""
    return ("run_command", {"command": "bash", "stdin": "\n".join(lines)})


def code(reply: Reply) -> JsonValue:
    return reply.result["exit_code"]


def refused(reply: Reply) -> bool:
    return "ConnectionRefusedError" in str(reply.result["stderr"])


def test_without_a_grant_there_is_no_route(world: World) -> None:
    asked, denied, probe = world.act(approval(INSTALL), command(INSTALL), command(PROBE))
    assert asked.result["approved"] is False
    assert denied.error_code == "approval_denied"
    assert refused(probe)
    assert not world.actions_with(NetworkConnected)


@pytest.mark.slow
@pytest.mark.parametrize("line", [INSTALL, PLAIN])
def test_a_grant_is_for_one_command(world: World, line: str) -> None:
    world.answers = ONCE
    before, _, installed, after, again, used = world.act(
        command(PROBE),
        approval(line),
        command(line),
        command(PROBE),
        command(line),
        command("cd /tmp/got && python -c 'import needed; print(needed.__version__)'"),
    )
    assert refused(before)
    assert code(installed) == 0, installed
    assert refused(after)
    assert again.error_code == "approval_required"
    assert used.result["stdout"] == "2.0\n"
    assert world.actions_with(NetworkConnected) == ["3"]
    assert world.actions_with(RegistryRequested) == ["3", "3"]
    connected = [e.event for e in world.entries if isinstance(e.event, NetworkConnected)]
    granted = world.entries[connected[0].granted_at].event
    assert granted.kind == "approval_decided"
    assert granted.answer.approved


@pytest.mark.slow
def test_a_process_that_is_allowed_while_it_is_held_connects_its_command(world: World) -> None:
    world.approver = AllowAll()
    reply, after = world.act(
        hidden(f"{PROBE} 2>&1 | tail -1", INSTALL, f"{PROBE} && echo on"), command(PROBE)
    )
    assert str(reply.result["stdout"]).startswith("ConnectionRefusedError")
    assert str(reply.result["stdout"]).endswith("\non\n")
    assert "Successfully installed needed-2.0" in str(reply.result["stdout"])
    assert refused(after)
    assert world.actions_with(NetworkConnected) == ["1"]


@pytest.mark.slow
def test_what_only_allows_connects_nothing(world: World) -> None:
    world.rules = [
        {"id": "pip", "when": {"program": "pip"}, "decision": "allow", "reason": "It is free."}
    ]
    installed, probe = world.act(command(f"{INSTALL} --retries 0"), command(PROBE))
    assert code(installed) == 1
    assert refused(probe)
    assert not world.actions_with(NetworkConnected)


WAIT = f"""
import socket, time
while True:
    try:
        socket.create_connection(("127.0.0.1", {PORT}), 5)
    except OSError:
        time.sleep(0.001)
    else:
        open("/tmp/reached", "w").close()
"""


UNTIL_REACHED = "until test -e /tmp/reached; do :; done"


@pytest.mark.slow
def test_nobody_waits_for_the_grant_of_a_later_command(world: World) -> None:
    world.answers = ONCE
    lurk = "setsid -f python /tmp/wait.py > /dev/null 2>&1; setsid -f sleep 99; true"
    world.session.write("/tmp/wait.py", WAIT.encode())
    lurking, _, installed, look = world.act(
        command(lurk), approval(PLAIN), command(PLAIN), command("ls /tmp")
    )
    assert (lurking.result["left_running"], lurking.result["ended"]) == (0, 2)
    assert code(installed) == 0
    assert "reached" not in str(look.result["stdout"])


@pytest.mark.slow
def test_nor_does_root(world: World) -> None:
    world.approver = AllowAll()
    root: JsonValue = {
        "id": "root",
        "when": {"privileged": True},
        "decision": "allow",
        "reason": "It may.",
    }
    world.rules = [*ASK, root]
    world.session.write("/tmp/wait.py", WAIT.encode())
    wait = "setsid -f /opt/venv/bin/python /tmp/wait.py > /dev/null 2>&1"
    lurking, installed, look = world.act(
        command(f"sudo sh -c '{wait}; id -u'"), command(PLAIN), command("ls /tmp")
    )
    assert (lurking.result["stdout"], lurking.result["left_running"]) == ("0\n", 0)
    assert code(installed) == 0
    assert "reached" not in str(look.result["stdout"])


@pytest.mark.slow
def test_what_a_command_leaves_behind_loses_the_route(world: World) -> None:
    world.approver = AllowAll()
    world.session.write("/tmp/wait.py", WAIT.encode())
    line = f"{PLAIN}; (setsid -f python /tmp/wait.py) > /dev/null 2>&1; {UNTIL_REACHED}"
    left, after = world.act(command(line), command(f"rm /tmp/reached; {PROBE}"))
    assert left.result["ended"] == 1
    assert refused(after)
    look = world.session.run(Command(("/bin/ls", "/tmp")))
    assert b"reached" not in look.stdout


@pytest.mark.slow
def test_a_port_that_the_command_took_itself_leads_nowhere(world: World) -> None:
    world.approver = AllowAll()
    serve = f"python -m http.server {PORT} > /dev/null 2>&1 &"
    squat, after = world.act(
        hidden(serve, f"until {PROBE} 2> /dev/null; do :; done", PLAIN), command(PLAIN)
    )
    assert code(squat) != 0
    events = [e.event for e in world.entries if isinstance(e.event, NetworkConnected)]
    assert [event.problem for event in events] == ["Address already in use", ""]
    assert code(after) == 0


@pytest.mark.slow
def test_faults_are_events_of_their_action_and_counted_over_the_run(world: World) -> None:
    world.approver = AllowAll()
    world.faults = [
        {"id": "down", "effect": "unavailable", "path": "simple/**", "times": 1},
        {"id": "damaged", "effect": "wrong_hash", "package": "needed", "times": 1},
    ]
    first, second, third = world.act(*[command(f"{PLAIN} --retries 0")] * 3)
    assert [code(first), code(second), code(third)] == [1, 1, 0]
    assert "DO NOT MATCH THE HASHES" in str(second.result["stderr"])
    struck = [
        (entry.action_id, entry.event.fault, entry.event.occurrence)
        for entry in world.entries
        if isinstance(entry.event, FaultInjected)
    ]
    assert struck == [("1", "down", 1), ("2", "damaged", 1)]
    taken = calls(world.entries)
    assert [call.injected for call in taken] == [True, True, False]
    assert not list(redundant(taken))
    assert rates(taken)["recovery"] == Ratio(numerator=1, denominator=1)


FLOOD = f"""
import http.client
for _ in range(1100):
    client = http.client.HTTPConnection("127.0.0.1", {PORT})
    client.request("GET", "/x")
    client.getresponse().read()
"""


@pytest.mark.slow
def test_more_requests_than_are_told_are_counted(world: World) -> None:
    world.approver = AllowAll()
    world.session.write("/tmp/flood.py", FLOOD.encode())
    (reply,) = world.act(command(f"{PLAIN} && python /tmp/flood.py"))
    assert code(reply) == 0, reply
    assert len(world.actions_with(RegistryRequested)) == 1000
    lost = [entry.event for entry in world.entries if entry.event.kind == "requests_lost"]
    assert [event.count for event in lost] == [102]
