"""The task itself: what its world tells, and who fails it and why."""

import json

import pytest
from pydantic import JsonValue

from sandbox.container.engines.base import Session
from sandbox.model.action import ACTIONS
from sandbox.model.session import AGENT, Command
from sandbox.run.actions.registry import perform, prepare
from sandbox.run.actions.workspace import Workspace
from sandbox.tasks import library

pytestmark = pytest.mark.engine

NAME = "inflection/house-terms"
LOADED = library.load(NAME)


def act(session: Session, action: str, **arguments: JsonValue) -> dict[str, JsonValue]:
    workspace = Workspace(session, LOADED.task, LOADED.worktree)
    asked = ACTIONS[action].model_validate(arguments)
    return perform(prepare(asked, workspace), workspace).observation.result


def test_one_server_is_current_one_stale_one_missing(session: Session) -> None:
    servers = act(session, "discover_tools")["servers"]
    assert isinstance(servers, list)
    available = {server["name"]: server["available"] for server in servers}  # type: ignore[index, call-overload]
    assert available == {"glossary": True, "style-guide": False, "terminology": True}
    told = json.dumps(servers)
    assert "2025-05" not in told, "which edition is in force takes a call"
    for server, edition in (("glossary", "2022-11"), ("terminology", "2025-05")):
        structured = act(session, "call_tool", server=server, tool="edition")["structured"]
        assert isinstance(structured, dict)
        assert structured["edition"] == edition


@pytest.mark.slow
def test_the_terms_are_nowhere_that_the_agent_can_read(session: Session) -> None:
    line = "grep -rIl -e olmar -e avrini / --exclude-dir=proc --exclude-dir=sys 2>/dev/null"
    found = session.run(Command(("/bin/sh", "-c", line), user=AGENT, environment={"PATH": "/bin"}))
    assert found.stdout == b""
