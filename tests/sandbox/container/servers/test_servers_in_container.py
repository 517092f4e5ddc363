"""Tool servers of a world, in a real container."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import JsonValue

from sandbox.container.engines.base import Engine, Session, SessionSpec
from sandbox.model import places
from sandbox.model.briefing import Reply, brief
from sandbox.model.decision import Policy
from sandbox.model.server import Server
from sandbox.model.session import AGENT, ROOT, Command
from sandbox.model.trace import TraceWriter
from sandbox.rules.policy.approvers import DenyAll
from sandbox.run.actions.workspace import Workspace
from sandbox.run.loop import run
from sandbox.tasks import library
from sandbox.tasks.drafts import layout, seed_folder
from sandbox.tasks.images import Images
from tests.sandbox.runs import STARTED, script

pytestmark = pytest.mark.engine

LOADED = library.load("humanize/file-sizes")
PROGRAM = Path(__file__).with_name("plain_server.py").read_bytes()


@pytest.fixture
def session(engine: Engine) -> Iterator[Session]:
    image = Images(engine, places.cache()).ensure(LOADED, lambda _: None)
    with engine.start(SessionSpec(image.tag)) as session:
        session.write("/opt/servers/stock/server.py", PROGRAM, user=ROOT, parents=True)
        line = "chown -R 10004:10004 /opt/servers/stock && chmod -R go-rwx /opt/servers/stock"
        session.run(Command(("/bin/sh", "-c", line), user=ROOT, environment={"PATH": "/bin"}))
        yield session


def server(name: str, *command: str) -> Server:
    return Server(name=name, about=f"The {name}.", command=command)


STOCK = server("stock", "/usr/bin/python3", "server.py")


def act(
    session: Session,
    folder: Path,
    *actions: tuple[str, dict[str, JsonValue]],
    servers: tuple[Server, ...] = (STOCK, server("archive", "/usr/bin/python3", "server.py")),
    policy: dict[str, JsonValue] | None = None,
) -> list[Reply]:
    world = LOADED.task.world.model_copy(update={"servers": servers})
    update: dict[str, object] = {"world": world, "final": {}}
    if policy is not None:
        update["policy"] = Policy.model_validate_json(json.dumps(policy))
    task = LOADED.task.model_copy(update=update)
    agent = script(*actions)
    with TraceWriter(folder / "trace.jsonl") as writer:
        run(agent, Workspace(session, task, LOADED.worktree), DenyAll(), writer, STARTED)
    return agent.replies


def call(**arguments: JsonValue) -> tuple[str, dict[str, JsonValue]]:
    return _call("stock", "count", **arguments)


def _call(server: str, tool: str, **arguments: JsonValue) -> tuple[str, dict[str, JsonValue]]:
    return "call_tool", {"server": server, "tool": tool, "arguments": arguments}


def test_tools_are_found_and_called(session: Session, tmp_path: Path) -> None:
    found, counted, again = act(
        session, tmp_path, ("discover_tools", {}), call(step=3), call(step=4)
    )
    stock, archive = found.result["servers"]  # type: ignore[misc, str-unpack]
    assert isinstance(stock, dict)
    assert isinstance(archive, dict)
    assert (stock["available"], archive["available"]) == (True, False)
    assert "cannot be started: working directory" in str(archive["problem"])
    assert [tool["name"] for tool in stock["tools"]] == ["count", "leave"]  # type: ignore[index, union-attr, call-overload]
    assert (counted.result["text"], again.result["text"]) == ("3", "7"), "it keeps its state"


def test_refusals_have_codes(session: Session, tmp_path: Path) -> None:
    replies = act(
        session,
        tmp_path,
        ("call_tool", {"server": "stok", "tool": "count"}),
        ("call_tool", {"server": "archive", "tool": "count"}),
        ("call_tool", {"server": "stock", "tool": "none"}),
        ("call_tool", {"server": "stock", "tool": "leave"}),
        call(step=2),
    )
    codes = [reply.error_code for reply in replies]
    assert codes == ["not_found", "server_unavailable", "tool_refused", "server_unavailable", None]
    assert "exit code 3: gone" in str(replies[3].message)
    assert replies[4].result["text"] == "2", "it was started anew"


def test_a_server_that_remembers_is_not_started_again(session: Session, tmp_path: Path) -> None:
    desk = STOCK.model_copy(update={"remembers": True})
    replies = act(
        session, tmp_path, call(step=3), _call("stock", "leave"), call(step=2), servers=(desk,)
    )
    assert replies[0].result["text"] == "3"
    assert [reply.error_code for reply in replies[1:]] == ["server_unavailable"] * 2
    assert "is not started again" in str(replies[2].message)


def test_the_agent_cannot_look_into_a_server(session: Session, tmp_path: Path) -> None:
    line = (
        "cat /opt/servers/stock/server.py; ls /opt/servers/stock; "
        "for p in $(pgrep -u 10004); do kill $p; cat /proc/$p/mem /proc/$p/environ; done; id -u"
    )
    _, looked, counted = act(
        session, tmp_path, call(step=1), ("run_command", {"command": line}), call(step=1)
    )
    assert looked.result["stdout"] == f"{AGENT.uid}\n"
    assert str(looked.result["stderr"]).count("ermission denied") >= 4
    assert counted.result["text"] == "2"


OTHERS = library.load(f"humanize/tools-{seed_folder.load('humanize').seeds.seeds[0].id[-8:]}")
"""A task with servers that others published, in the same toolchain."""


def lay(session: Session, servers: tuple[Server, ...]) -> None:
    folder = layout.DRAFTS / "tools/servers"
    for path in (path for path in folder.rglob("*") if path.is_file()):
        for each in servers:
            place = f"/opt/servers/{each.name}/{path.relative_to(folder)}"
            session.write(place, path.read_bytes(), user=ROOT, parents=True)
    closed = "chown -R 10004:10004 /opt/servers && chmod -R go-rwx /opt/servers/*"
    session.run(Command(("/bin/sh", "-c", closed), user=ROOT, environment={"PATH": "/bin"}))


def test_servers_that_others_published_serve_what_a_task_lays_beside_them(
    session: Session, tmp_path: Path
) -> None:
    servers = OTHERS.task.world.servers
    lay(session, servers)
    query = "SELECT component FROM moves ORDER BY moved_on DESC LIMIT 1"
    asked = _call("tracker", "read_query", query=query)
    shown = _call("wiki", "git_show", repo_path="/opt/servers/wiki/pages", revision="HEAD")
    writing = _call("wiki", "git_diff", repo_path="/opt/servers/wiki/pages", target="--output=x")
    peek = "ls /opt/tool-servers /opt/servers/tracker; cat /opt/servers/*/*.sql"
    replies = act(
        session,
        tmp_path,
        ("discover_tools", {}),
        asked,
        shown,
        writing,
        ("run_command", {"command": peek}),
        servers=servers,
    )
    found, told, page, refused, looked = (reply.result for reply in replies)
    assert all(each["available"] for each in found["servers"]), found  # type: ignore[call-overload, index, union-attr]
    tools = [each["tools"] for each in found["servers"]]  # type: ignore[call-overload, index, union-attr]
    assert sum(map(len, tools)) >= 30  # type: ignore[arg-type]
    assert told["text"] == "[{'component': '{component}'}]"  # the place of a seed's value
    assert "+- {ticket}: {formerly}" in str(page["text"])
    assert refused["is_error"], "earlier releases of it hand an option on to git"
    assert looked["stdout"] == ""


def test_a_policy_decides_on_tools(session: Session, tmp_path: Path) -> None:
    rule: dict[str, JsonValue] = {
        "id": "no-leaving",
        "when": {"tool": "stock/l*"},
        "decision": "deny",
        "reason": "Stay.",
    }
    left, counted = act(
        session,
        tmp_path,
        ("call_tool", {"server": "stock", "tool": "leave"}),
        call(step=5),
        policy={"rules": [rule]},
    )
    assert (left.error_code, counted.result["text"]) == ("policy_denied", "5")


def test_no_server_outlives_its_run(session: Session, tmp_path: Path) -> None:
    act(session, tmp_path, call(step=1))
    assert session.usage().processes == 0


def test_a_world_without_servers_offers_no_such_actions() -> None:
    def offered(*servers: Server) -> set[str]:
        world = LOADED.task.world.model_copy(update={"servers": servers})
        task = LOADED.task.model_copy(update={"world": world})
        return {action.name for action in brief(task, "r1", "/").actions}

    assert offered(STOCK) - offered() == {"discover_tools", "call_tool"}
