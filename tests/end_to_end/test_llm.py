"""The built-in agent on the whole task, against a scripted endpoint."""

import signal
import socket
import subprocess
from pathlib import Path

import pytest

from sandbox.agents.playback.replay import replay
from sandbox.agents.playback.script import Fault
from sandbox.agents.playback.server import ModelServer
from sandbox.container.engines.base import Engine
from sandbox.tasks import library
from tests.end_to_end.commands import SANDBOX, TASK, recorded, run, sandbox
from tests.sandbox.agents.chat_server import ChatServer, error, says

pytestmark = pytest.mark.engine

KEY = {"OPENAI_API_KEY": "secret"}


@pytest.mark.slow
def test_a_model_solves_the_task(runs: Path, engine: Engine, tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("scripted:\n  input: 3\n  output: 15\n  cached: 0.3\n")
    oracle = library.load(TASK).task.oracle
    with ModelServer((Fault(how=429), Fault(how="cut"), *replay(oracle))) as models:
        url = f"{models.url}/v1"
        options = ("--model", "scripted", "--base-url", url, "--prices", str(prices))
        ended = run("llm", runs, *options, **KEY)
    assert (ended.code, ended.err) == (0, "")
    stored = recorded(runs, engine)
    assert stored.record.agent == "llm:scripted"
    used = [entry.event.usage for entry in stored.entries if entry.event.kind == "action"]
    assert len(used) == len(oracle)
    assert all(usage is not None and usage.cost for usage in used)
    assert b"secret" not in b"".join(
        path.read_bytes() for path in stored.folder.path.iterdir() if path.is_file()
    )


@pytest.mark.slow
def test_an_endpoint_that_refuses_is_an_error_of_the_machinery(runs: Path, engine: Engine) -> None:
    with ChatServer(error(401, "bad key")) as server:
        ended = run("llm", runs, "--model", "m", "--base-url", server.url, **KEY)
    assert ended.code == 3
    assert "cannot be used: 401" in ended.err
    stored = recorded(runs, engine)
    assert stored.record.verdict == "error"
    assert stored.ended.reason == "provider_error"


@pytest.mark.thorough
def test_several_trials_at_once(runs: Path) -> None:
    with ChatServer(says(("list_files", {})), says(("bash", {})), says(text="Hm.")) as server:
        options = ("--model", "m", "--base-url", server.url, "--trials", "2", "--jobs", "2")
        ended = run("llm", runs, *options, **KEY)
    assert ended.code == 1
    assert "2 runs: 2 failed" in ended.out


def test_without_a_key_nothing_is_begun(runs: Path) -> None:
    ended = run("llm", runs, "--model", "m", OPENAI_API_KEY="")
    assert ended.code == 2
    assert "the variable OPENAI_API_KEY is not set" in ended.err
    assert not runs.exists()


@pytest.mark.thorough
def test_a_model_that_is_served_by_hand_is_found_by_what_is_printed(
    runs: Path, engine: Engine
) -> None:
    served = subprocess.Popen(
        [SANDBOX, "agents", "serve", TASK],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert served.stdout
        url = served.stdout.readline().split()[-1]
        ended = run("llm", runs, "--model", "any", "--base-url", url, **KEY)
    finally:
        served.send_signal(signal.SIGINT)
        out, err = served.communicate(timeout=60)
    assert ended.code == 0, ended
    assert (served.returncode, err) == (0, "")
    assert f"{len(library.load(TASK).task.oracle)} requests with tools" in out
    taken = url.rpartition(":")[2].partition("/")[0]
    with socket.create_server(("127.0.0.1", int(taken))):
        refused = sandbox("agents", "serve", TASK, "--port", taken)
    assert (refused.code, "cannot be used" in refused.err) == (2, True)
