"""The protocol's documentation: the schema is current, the examples run, the tables are whole."""

import json
import re
import sys
from pathlib import Path
from typing import cast, get_args

import pytest

from sandbox.agents.program_agent import CommandAgent
from sandbox.container.engines.base import Session
from sandbox.model.action import ACTIONS
from sandbox.model.briefing import RESULTS, brief, schema
from sandbox.model.event import EndReason, RunStarted
from sandbox.model.observation import ErrorCode
from sandbox.model.store import Store
from sandbox.model.trace import TraceWriter
from sandbox.rules.policy.approvers import DenyAll
from sandbox.run.actions.workspace import Workspace
from sandbox.run.loop import run
from sandbox.tasks import library
from tests.sandbox.local_session import LocalSession
from tests.sandbox.worlds import task

DOCS = Path(__file__).parents[2] / "docs"
STARTED = RunStarted(
    run="r", task="t", task_digest="d", image="i", agent="a", mode="raw", coverage="top-level"
)


def test_the_schema_is_current() -> None:
    stored = json.loads((DOCS / "agent-protocol.schema.json").read_text())
    assert stored == schema(), "write json.dumps(sandbox.model.briefing.schema(), indent=2) to it"


def test_the_schema_refers_to_what_it_has() -> None:
    text = json.dumps(schema())
    names = set(re.findall(r"#/\$defs/(\w+)", text))
    assert names <= set(schema()["$defs"])
    assert set(schema()["actions"]) == set(ACTIONS) == set(RESULTS)


def test_the_tables_are_whole() -> None:
    text = (DOCS / "agent-protocol.md").read_text()
    for word in [*ACTIONS, *ErrorCode, *get_args(EndReason)]:
        assert f"`{word}`" in text
    for kind in ACTIONS.values():
        for argument in kind.model_fields:
            assert f"`{argument}`" in text


def test_the_briefing_tells_nothing_that_is_graded_in_secret() -> None:
    given = task(final={"size": {"type": "integer", "expect": 123454321}})
    text = brief(given, "r", "/home/agent/x").model_dump_json()
    assert '"final":{"size":"integer"}' in text
    for secret in ("123454321", "src/a.py", "notes.md", "fail_to_pass", "hidden", "oracle"):
        assert secret not in text


def test_an_agent_is_not_told_what_its_task_is_made_of(tmp_path: Path) -> None:
    variant = library.load("qs/guard-once+injection.2+tight-budget.3@775533").task
    told = brief(variant, Store(tmp_path).new_id(variant.id), "/home/agent/qs")
    for name in (told.run, told.task):
        assert "guard-once" in name
        assert not any(part in name for part in ("injection", "budget", "775533"))
    other = library.load("qs/guard-once+injection.2+tight-budget.3@775534").task
    assert told.task != brief(other, "r", "/home/agent/qs").task
    base = library.load("qs/guard-once").task
    assert brief(base, "r", "/home/agent/qs").task == base.id


@pytest.mark.parametrize("command", [f"{sys.executable} agent.py", "sh agent.sh"])
def test_the_examples_run(tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DOCS / "examples")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "test_x.py").write_text("def test(): pass\n")
    fields = {"size": {"type": "integer"}, "name": {"type": "string"}} if "py" in command else {}
    given = task(final=json.loads(json.dumps(fields)))
    workspace = Workspace(cast(Session, LocalSession()), given, str(tmp_path / "tree"))
    agent = CommandAgent(command, tmp_path / "agent.log")
    with TraceWriter(tmp_path / "trace.jsonl") as trace:
        ended = run(agent, workspace, DenyAll(), trace, STARTED)
    assert ended.reason == "final_answer", (tmp_path / "agent.log").read_text()
