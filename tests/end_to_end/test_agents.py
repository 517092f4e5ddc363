"""Agents that are programs: those of the documents, a whole one, and those that misbehave."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from sandbox.agents.log import LOG_LIMIT
from sandbox.container.engines.base import Engine
from tests.end_to_end.commands import TASK, Recorded, quoted, recorded, run, sandbox
from tests.end_to_end.project import Project

pytestmark = pytest.mark.engine

EXAMPLES = Path(__file__).parent.parent.parent / "docs" / "examples"

WHOLE = """
import json, sys
briefing = json.loads(input())
assert briefing["task"] == "inflection/house-terms"
for number, action in enumerate(json.load(open(sys.argv[1]))):
    print(json.dumps({"id": str(number), **action}), flush=True)
    reply = json.loads(input())
    assert reply["status"] == "ok", reply
assert json.loads(input()) == {"ended": "final_answer", "message": ""}
"""

ASK = """
import json, os, sys, time
def ask(number):
    print(json.dumps({"id": str(number), "action": "list_files"}), flush=True)
"""


@pytest.fixture
def act(tmp_path: Path, runs: Path, engine: Engine, quick: Project) -> "Actor":
    return Actor(tmp_path, runs, engine, quick)


class Actor:
    """Runs a program as the agent, in a task with short limits."""

    def __init__(self, folder: Path, runs: Path, engine: Engine, quick: Project) -> None:
        self._folder = folder
        self._runs = runs
        self._engine = engine
        self._quick = quick

    def __call__(self, source: str) -> Recorded:
        program = self._folder / "agent.py"
        program.write_text(ASK + source)
        ended = run(quoted(program), self._runs, **self._quick.environment)
        assert (ended.code, ended.err) == (1, "")
        return recorded(self._runs, self._engine)


def codes(stored: Recorded) -> list[str]:
    """What became of each request: an error code or `ok`."""
    return [seen.error_code or seen.status for seen in stored.observations]


@pytest.mark.slow
def test_a_program_solves_the_task(runs: Path, engine: Engine, tmp_path: Path) -> None:
    from sandbox.tasks import library

    actions = [each.model_dump_json() for each in library.load(TASK).task.oracle]
    script = tmp_path / "actions.json"
    script.write_text(f"[{','.join(actions)}]")
    program = tmp_path / "agent.py"
    program.write_text(WHOLE)
    agent = shlex.join([sys.executable, str(program), str(script)])
    ended = run(agent, runs)
    assert (ended.code, ended.err) == (0, "")
    stored = recorded(runs, engine)
    assert stored.record.agent == agent
    assert stored.folder.agent_log.read_bytes() == b""


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("agent", "reason", "turns"),
    [
        (f"{sys.executable} {EXAMPLES / 'agent.py'}", "final_answer", 2),
        (f"sh {EXAMPLES / 'agent.sh'}", "agent_exited", 2),
    ],
)
@pytest.mark.slow
def test_the_examples_run_to_their_end(
    runs: Path, engine: Engine, agent: str, reason: str, turns: int
) -> None:
    ended = run(agent, runs)
    assert (ended.code, ended.err) == (1, "")
    stored = recorded(runs, engine)
    assert (stored.ended.reason, stored.ended.turns) == (reason, turns)


def test_one_that_cannot_start(runs: Path, engine: Engine) -> None:
    ended = run("no-such-agent --fast", runs)
    assert ended.code == 2
    assert "no-such-agent: No such file or directory" in ended.err
    stored = recorded(runs, engine)
    assert stored.record.verdict == "error"
    assert stored.ended.reason == "agent_exited"


@pytest.mark.slow
def test_one_that_exits_early(act: Actor) -> None:
    ended = act("ask(1)\nsys.exit(3)").ended
    assert (ended.reason, ended.message) == ("agent_exited", "The agent exited with status 3.")


@pytest.mark.slow
def test_one_that_prints_garbage(act: Actor) -> None:
    stored = act("while True: print('\\x1b[2JThinking\\0', flush=True)")
    assert stored.ended.reason == "agent_garbage"
    assert codes(stored) == ["bad_request"] * 10


def test_one_that_sends_a_line_of_100_megabytes(act: Actor) -> None:
    stored = act("for _ in range(100): os.write(1, b'x' * (1 << 20))\nprint()\nask(1)")
    assert stored.ended.reason == "agent_exited"
    assert codes(stored) == ["bad_request", "ok"]
    assert stored.folder.trace.stat().st_size < 1 << 20


@pytest.mark.parametrize("descriptor", [0, 1])
@pytest.mark.slow
def test_one_that_closes_a_pipe(act: Actor, descriptor: int) -> None:
    stored = act(f"ask(1)\nos.close({descriptor})\nos.write(2, b'bye')")
    assert stored.ended.reason == "agent_exited"
    assert codes(stored) == ["ok"]
    assert stored.folder.agent_log.read_bytes() == b"bye"


@pytest.mark.slow
def test_one_that_hangs(tmp_path: Path, runs: Path, engine: Engine, project: Project) -> None:
    project.limit(silence=1)
    ended = Actor(tmp_path, runs, engine, project)("time.sleep(999)").ended
    assert ended.reason == "agent_silent"
    assert ended.message == "The agent sent nothing for 1 seconds."


@pytest.mark.slow
def test_one_that_floods_standard_error(act: Actor) -> None:
    stored = act("for _ in range(64): os.write(2, b'x' * (1 << 20))\nask(1)")
    assert stored.ended.reason == "agent_exited"
    assert codes(stored) == ["ok"]
    assert LOG_LIMIT <= stored.folder.agent_log.stat().st_size < LOG_LIMIT + 100


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("source", "how", "code"),
    [
        ("input(); sys.exit('RateLimitError: 429')", "crashed", 1),
        ("input(); os.kill(os.getpid(), 9)", "crashed", 1),
        ("input()", "gave_up", 1),
        ("input(); ask(1); input(); sys.exit(75)", "provider_error", 3),
        ("input(); print(json.dumps({'error': 'no quota'}), flush=True)", "provider_error", 3),
    ],
)
@pytest.mark.slow
def test_how_it_ended_is_told_first_and_counted_apart(
    source: str, how: str, code: int, tmp_path: Path, runs: Path, quick: Project
) -> None:
    program = tmp_path / "agent.py"
    program.write_text(ASK + source)
    ended = run(quoted(program), runs, "--name", "mine", "--tag", "a=b", **quick.environment)
    assert ended.code == code, ended
    (record,) = json.loads(sandbox("runs", "--json", "--runs", runs).out)
    assert (record["end"]["how"], record["agent"]) == (how, "mine")
    assert record["actor"]["tags"] == {"a": "b"}
    assert len(record["actor"]["digest"]) == 64
    if code == 1:
        assert ended.out.startswith("ended: " + how.replace("_", " ")), ended.out
        assert ("RateLimitError: 429" in ended.out) == ("429" in source)
    else:
        assert "asked not to be counted" in ended.err
        assert f"run {record['id']}: sandbox view" in ended.err
        asked = run(quoted(program), runs, "--json", **quick.environment)
        assert (asked.code, json.loads(asked.out)["verdict"]) == (3, "error")
