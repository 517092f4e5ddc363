"""Agents that run in the container: seen like any command, and their model's key stays outside."""

import json
import shutil
import socket
import threading
from functools import partial
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine
from sandbox.model.event import ActionTaken, Executed, ModelRequested, Observed
from sandbox.model.store import Store
from sandbox.tasks import library
from tests.end_to_end import commands
from tests.end_to_end.commands import HUMANIZE, Ended, Recorded, recorded
from tests.end_to_end.project import Project
from tests.sandbox.container.forwarder import upstream as servers
from tests.sandbox.container.forwarder.upstream import PIECES, chunk, plain, serving

run = partial(commands.run, task=HUMANIZE)
pytestmark = pytest.mark.engine

PROGRAMS = Path(__file__).parent / "inside"
KEY = "sk-the-real-key-0123456789"
VARIABLE = "A_MODELS_KEY"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The agent's folder."""
    folder = tmp_path / "files"
    shutil.copytree(PROGRAMS, folder)
    folder.chmod(0o755)
    return folder


def inside(
    command: str, files: Path, runs: Path, *options: str | Path, **environment: str
) -> Ended:
    more = ("--inside", "--inside-files", str(files), *map(str, options))
    return run(command, runs, *more, **environment)


def program(files: Path, source: str) -> str:
    """Bring a shell script into the container; its command."""
    (files / "agent.sh").write_text(source)
    return "bash /.sandbox/agent/agent.sh"


def executed(stored: Recorded) -> list[tuple[str | None, Executed]]:
    return [
        (entry.action_id, entry.event)
        for entry in stored.entries
        if isinstance(entry.event, Executed)
    ]


def test_one_solves_the_task_by_its_own_means(files: Path, runs: Path, engine: Engine) -> None:
    task = library.load(HUMANIZE).task
    oracle = [action.model_dump(mode="json") for action in task.oracle]
    (files / "script.json").write_text(json.dumps([task.tests.command, *oracle]))
    assert inside("python /.sandbox/agent/solve.py", files, runs).code == 0
    stored = recorded(runs, engine)
    first = stored.entries[0].event
    assert first.kind == "run_started"
    assert first.inside
    assert stored.record.inside
    assert [entry.event.name for entry in stored.entries if entry.event.kind == "action"] == [
        "run_agent",
        "final_answer",
    ]
    seen = executed(stored)
    assert {action for action, _ in seen} == {"agent"}
    assert [event.by_harness for _, event in seen[:2]] == [True, False]
    assert ("git", "apply", "--unidiff-zero", "-") in [event.argv for _, event in seen]
    assert stored.ended.reason == "final_answer"


def test_what_is_denied_is_refused_in_every_script(files: Path, runs: Path, engine: Engine) -> None:
    (files / "deep.sh").write_text("sh -c 'git push origin main'\n")
    inside(
        program(files, "bash /.sandbox/agent/deep.sh; echo $? > /tmp/x; cat /tmp/x"), files, runs
    )
    stored = recorded(runs, engine)
    refused = [event for _, event in executed(stored) if event.verdict == "denied"]
    assert {event.argv for event in refused} == {("git", "push", "origin", "main")}
    (observation,) = stored.observations
    assert observation.error_code == "policy_denied"
    assert observation.result["stdout"] == "126\n"
    assert stored.ended.reason == "agent_exited"


def test_the_model_is_all_that_is_reached_and_the_key_stays_outside(
    files: Path, runs: Path, engine: Engine
) -> None:
    models = threading.Event()

    def answer(client: socket.socket) -> None:
        line = server.asked[-1].line
        if "/chat/completions" in line:
            client.sendall(servers.HEAD + chunk(PIECES[0]))
            assert models.wait(60)  # the first piece is read before the second is sent
            client.sendall(b"".join(map(chunk, PIECES[1:])) + b"0\r\n\r\n")
        elif "/models" in line:
            models.set()
            plain("200 OK", b"{}")(client)
        elif "half" in line:
            servers.half(client)
        else:
            plain(f"{line.split()[1][-3:]} Oh", b"why")(client)

    with serving(answer) as server:
        options = ("--model-url", server.url, "--model-key-variable", VARIABLE)
        needle = KEY.replace("-", "")
        command = f"python /.sandbox/agent/talk.py {needle[:5]}--{needle[5:]} {server.port}"
        inside(command, files, runs, *options, **{VARIABLE: KEY, "NO_PROXY": "127.0.0.1"})
    stored = recorded(runs, engine)
    result = stored.observations[0].result
    assert result["stderr"] == ""
    found = json.loads(str(result["stdout"]))
    assert found["first"].encode() + b"\n" == PIECES[0]
    assert found["rest"].encode() == b"\n" + b"".join(PIECES[1:])
    assert (found["models"], found["statuses"]) == (200, [429, 500, 403])
    assert found["half"].encode() == PIECES[0]
    assert found["held"] == []
    assert found["reached"] == []
    assert {each.headers["authorization"] for each in server.asked} == {f"Bearer {KEY}"}
    asked = [
        (entry.action_id, entry.event.path, entry.event.status)
        for entry in stored.entries
        if isinstance(entry.event, ModelRequested)
    ]
    assert sorted(asked) == [
        ("agent", "/v1/chat/completions", 200),
        ("agent", "/v1/files", 403),
        ("agent", "/v1/models", 200),
        ("agent", "/v1/responses/429", 429),
        ("agent", "/v1/responses/500", 500),
        ("agent", "/v1/responses/half", 200),
    ]
    for file in stored.folder.path.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes()


def test_it_asks_for_what_no_process_can_do(files: Path, runs: Path, engine: Engine) -> None:
    lines = [
        """action request_approval '{"scope": "network", "command": "curl x", "reason": "y"}'""",
        'action run_command \'{"command": "true"}\'',
        "action discover_tools '{'",
        "action",
        "git push; action request_approval '{}'",
        # Two at once, each with its own reply.
        """for each in 1 2; do
            action request_approval '{"scope": "network", "command": "'$each'", "reason": "z"}' &
        done; wait""",
    ]
    inside(program(files, "\n".join(f"{line}; echo $?" for line in lines)), files, runs)
    stored = recorded(runs, engine)
    said = str(stored.observations[-1].result["stdout"]).splitlines()
    replies = [json.loads(line) for line in said if line.startswith("{")]
    assert [line for line in said if not line.startswith("{")] == ["0", "1", "1", "2", "1", "0"]
    asked, other, garbled, unclear, *both = replies
    assert asked["status"] == "ok"
    assert asked["result"]["approved"] is False
    assert other["error_code"] == garbled["error_code"] == "bad_request"
    assert "by your own means" in other["message"]
    assert unclear["error_code"] == "bad_arguments"
    assert [each["status"] for each in both] == ["ok", "ok"]
    names = [
        entry.event.name if isinstance(entry.event, ActionTaken | Observed) else entry.event.kind
        for entry in stored.entries
    ]
    # The push that came between stands where it was.
    push = next(
        place
        for place, entry in enumerate(stored.entries)
        if isinstance(entry.event, Executed) and entry.event.argv == ("git", "push")
    )
    places = [place for place, name in enumerate(names) if name == "request_approval"]
    assert places[0] < push < places[2]
    assert names.count("request_approval") == 8
    assert stored.ended.turns == 1  # the agent itself
    assert {entry.action_id for entry in stored.entries if entry.action_id} == {
        "agent", "in-1", "in-2", "in-3", "in-4",
    }  # fmt: skip


@pytest.mark.sampled(every=9)
@pytest.mark.parametrize(
    ("source", "reason", "message"),
    [
        ("sleep 1000 & exec sleep 1000", "time_limit", "seconds are over"),
        ("exit 3", "agent_exited", "status 3"),
        ("kill -ABRT $$", "agent_exited", "SIGABRT"),
        ("head -c 9000000 /dev/zero; head -c 9000000 /dev/zero >&2", "agent_exited", "status 0"),
        ('echo "not JSON" > $SANDBOX_ANSWER', "agent_exited", "status 0"),
        ("head -c 9000000 /dev/zero > $SANDBOX_ANSWER", "agent_exited", "status 0"),
        ('echo "{}" > $SANDBOX_ANSWER', "agent_exited", "status 0"),
        ("setsid sleep 1000 & exit 4", "agent_exited", "status 4"),
    ],
)
@pytest.mark.slow
def test_whatever_one_does_the_run_ends_and_is_recorded(
    files: Path,
    runs: Path,
    project: Project,
    engine: Engine,
    source: str,
    reason: str,
    message: str,
) -> None:
    project.limit()
    project.replace(project.task, "  seconds: 120", "  seconds: 3")
    ended = inside(program(files, source), files, runs, **project.environment)
    assert ended.code == 1
    stored = recorded(runs, engine)
    assert stored.ended.reason == reason
    assert message in stored.ended.message
    assert len(str(stored.observations[0].result["stdout"])) <= 64 << 10


def test_one_that_cannot_be_started(files: Path, runs: Path, engine: Engine) -> None:
    ended = inside("no-such-program", files, runs)
    assert ended.code == 2
    assert "The agent could not be started: no-such-program does not exist." in ended.err
    assert recorded(runs, engine).grade.verdict == "error"


def test_its_files_are_read_only_and_no_part_of_what_it_changed(
    files: Path, runs: Path, engine: Engine
) -> None:
    source = "touch /.sandbox/agent/new; echo $?; cat $SANDBOX_PROMPT; agent.sh; echo x > /tmp/x"
    (files / "agent.sh").touch(0o755)
    (files / "other.sh").write_text(source)
    inside("bash /.sandbox/agent/other.sh {prompt}", files, runs)
    stored = recorded(runs, engine)
    said = str(stored.observations[0].result["stdout"])
    assert said.startswith("1\nNegative file sizes get the wrong unit\n")
    assert "write your final answer to the file $SANDBOX_ANSWER" in said
    assert any(
        event.argv[:2] == ("bash", "/.sandbox/agent/other.sh") and "HUM-214" in event.argv[2]
        for _, event in executed(stored)
    )
    changed = json.loads(stored.folder.changes.read_text())
    assert "/tmp/x" in json.dumps(changed)
    assert ".sandbox" not in json.dumps(changed)


def test_one_that_would_not_be_seen_does_not_begin(files: Path, runs: Path) -> None:
    ended = inside("true", files, runs, SANDBOX_INTERCEPTION="top-level")
    assert ended.code == 3
    assert "here only top-level is possible" in ended.err
    assert not Store(runs).find("last").trace.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model-url", "http://x"], "go with --inside"),
        (["--inside", "--protocol", "mcp"], "speaks no protocol"),
        (["--inside", "--inside-files", "/nonexistent"], "is not a folder"),
        (["--inside", "--model-key-variable", VARIABLE], "goes with --model-url"),
        (["--inside", "--model-url", "x"], "is not the address"),
        (
            ["--inside", "--model-url", "http://x", "--model-key-variable", VARIABLE],
            f"the variable {VARIABLE} is not set",
        ),
    ],
)
def test_options_that_do_not_go_together(runs: Path, options: list[str], message: str) -> None:
    ended = run("true", runs, *options)
    assert ended.code == 2
    assert message in ended.err
    assert not runs.exists()
