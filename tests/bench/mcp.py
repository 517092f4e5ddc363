"""What MCP adds to an action: a call over HTTP less the action itself, in the same session."""

import tempfile
import threading
from pathlib import Path

from sandbox.agents.mcp_agent import McpAgent, Place
from sandbox.model.action import RunCommand
from sandbox.model.trace import TraceWriter
from sandbox.rules.policy.approvers import DenyAll
from sandbox.run.actions.registry import perform, prepare
from sandbox.run.actions.workspace import Workspace
from sandbox.run.loop import run
from tests.bench.clock import Measure, interleaved
from tests.bench.fixture import open_session, prepared
from tests.sandbox.agents.mcp_wire import HttpClient
from tests.sandbox.runs import STARTED
from tests.sandbox.worlds import task

BOUND = 10.0
ROUNDS = 300


def measure() -> list[Measure]:
    with (
        prepared() as (engine, loaded, image),
        open_session(engine, image.tag) as session,
        tempfile.TemporaryDirectory() as folder,
        TraceWriter(Path(folder) / "trace.jsonl") as trace,
    ):
        workspace = Workspace(session, task(limits={"turns": 2 * ROUNDS}), loaded.worktree)
        place = Place(*(Path(folder) / name for name in ("socket", "out", "log")))
        agent = McpAgent(None, place)
        running = threading.Thread(
            target=run, args=(agent, workspace, DenyAll(), trace, STARTED), daemon=True
        )
        running.start()
        client = HttpClient(*agent.address())
        client.greet()
        action = RunCommand(command="true")
        call, bare = interleaved(
            ROUNDS,
            lambda: client.call("run_command", command="true"),
            lambda: perform(prepare(action, workspace), workspace),
        )
        client.call("final_answer", fields={})
        client.close()
        running.join()
    return [("MCP adds to an action (`true`)", "the bound, ms", call - bare, BOUND, 1, False)]
