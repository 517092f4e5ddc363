"""Codex's remote environment by its wire: what becomes of each request, in a run and its trace."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from pydantic import JsonValue

from sandbox.agents.clients.codex import wire
from sandbox.agents.clients.codex.bridge import WAITING_LIMIT
from sandbox.agents.requests import LINE_LIMIT
from tests.sandbox.agents.clients.codex.peer import PATIENCE, Json, Peer, Scene, coded, scene, uri
from tests.sandbox.agents.test_program_agent import gone
from tests.sandbox.runs import World
from tests.sandbox.worlds import task

RULES: JsonValue = {
    "rules": [
        {
            "id": "no-touch",
            "when": {"program": "touch"},
            "decision": "deny",
            "reason": "Touching is denied.",
        }
    ]
}


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "tree" / "src").mkdir(parents=True)
    limits: JsonValue = {"silence_seconds": 20, "observation_bytes": 2000, "turns": 2000}
    return World(tmp_path, task=task(limits=limits, policy=RULES))


@pytest.fixture
def opened(world: World) -> Iterator[Scene]:
    with scene(world) as opened:
        opened.peer.greet()
        yield opened


def outcome(opened: Scene) -> list[tuple[str, Json]]:
    assert opened.peer.leave() == 0
    opened.finish()
    return opened.actions


# Processes


@pytest.mark.slow
def test_it_says_where_it_is(world: World) -> None:
    with scene(world) as opened:
        about = opened.peer.greet()["environmentInfo"]
        assert about["shell"] == {"name": "bash", "path": "/bin/bash"}
        assert about["cwd"] == uri("")


def test_a_command_is_run_as_it_stands(opened: Scene) -> None:
    line = "pwd; echo 'a  b' >&2; exit 3"
    opened.peer.start("p", line, cwd=uri("src"))
    assert opened.peer.ended("p") == (3, f"{opened.world.root}/src\n", "a  b\n")
    assert opened.peer.ask("process/terminate", processId="p") == {"running": False}
    assert outcome(opened) == [("run_command", {"command": line, "cwd": "src"})]


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (["bash", "-lc", "echo $HOME"], "echo $HOME"),
        (["echo", "a b", "$HOME"], "echo 'a b' '$HOME'"),
        (["/bin/sh", "-c", "echo x"], "/bin/sh -c 'echo x'"),
        (["bash", "-c", "echo $0", "name"], "bash -c 'echo $0' name"),
    ],
)
@pytest.mark.slow
def test_words_become_a_line(opened: Scene, argv: list[str], line: str) -> None:
    opened.peer.start("p", "", argv=argv, cwd=uri("", str(opened.world.root)))
    assert opened.peer.ended("p")[0] == 0
    assert outcome(opened) == [("run_command", {"command": line, "cwd": "."})]


@pytest.mark.slow
def test_a_denied_command_is_not_run(opened: Scene) -> None:
    opened.peer.start("p", "touch made")
    code, out, problem = opened.peer.ended("p")
    assert (code, out) == (126, "")
    assert problem.startswith("sandbox: policy_denied: ")
    assert "Touching is denied." in problem
    assert not (opened.world.root / "made").exists()
    opened.finish()
    assert opened.world.codes == ["policy_denied", "ok"]


@pytest.mark.slow
def test_one_that_is_terminated_is_killed(opened: Scene) -> None:
    opened.peer.start("p", "echo $$ > pid; exec sleep 1000")
    pid = opened.world.root / "pid"
    while not (pid.exists() and pid.read_text()):
        assert opened.peer.ask("process/read", processId="p")["exited"] is False
    assert opened.peer.ask("process/terminate", processId="p") == {"running": True}
    assert opened.peer.ended("p")[0] == 137
    opened.finish()
    assert gone(int(pid.read_text()))
    assert opened.world.codes == ["cancelled", "ok"]


@pytest.mark.parametrize("method", ["process/terminate", "process/signal"])
def test_one_that_waits_is_never_begun(opened: Scene, method: str) -> None:
    opened.peer.start("first", "while ! test -e go; do sleep 0.01; done; echo first")
    opened.peer.start("second", "echo > made")
    opened.peer.start("third", "echo third")
    opened.peer.ask(method, processId="second", signal="interrupt")
    (opened.world.root / "go").touch()
    assert opened.peer.ended("first")[:2] == (0, "first\n")
    assert opened.peer.ended("second") == (137, "", "")
    assert opened.peer.ended("third")[:2] == (0, "third\n")
    assert not (opened.world.root / "made").exists()
    assert len(outcome(opened)) == 2


@pytest.mark.slow
def test_one_that_runs_out_of_time_keeps_its_output(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    world = World(tmp_path, task=task(limits={"silence_seconds": 20, "command_seconds": 0.5}))
    with scene(world) as opened:
        opened.peer.greet()
        opened.peer.start("p", "echo begun; exec sleep 1000")
        code, out, problem = opened.peer.ended("p")
        assert (code, out) == (124, "begun\n")
        assert problem.startswith("sandbox: timeout: ")


@pytest.mark.slow
def test_one_that_is_killed_by_a_signal(opened: Scene) -> None:
    opened.peer.start("p", "kill -KILL $$")
    assert opened.peer.ended("p")[0] == 128 + signal.SIGKILL


@pytest.mark.slow
def test_much_output_comes_in_pieces_as_far_as_the_limit_allows(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    limits: JsonValue = {"silence_seconds": 20, "observation_bytes": 400_000}
    with scene(World(tmp_path, task=task(limits=limits))) as opened:
        opened.peer.greet()
        opened.peer.start("p", "yes | head -c 150000")
        assert opened.peer.ended("p") == (0, "y\n" * 75_000, "")
        assert len(opened.peer.about("p")) > 4
        opened.peer.start("q", "yes | head -c 1500000")
        code, out, problem = opened.peer.ended("q")
        assert code == 0
        assert 100_000 < len(out) <= 400_000
        assert problem == "sandbox: the output is longer; this is what the limit allows\n"


@pytest.mark.slow
def test_output_can_be_read_by_number(opened: Scene) -> None:
    opened.peer.start("p", "echo one; echo two >&2")
    whole = opened.peer.ask("process/read", processId="p", waitMs=20_000)
    while not whole["closed"]:
        whole = opened.peer.ask("process/read", processId="p")
    assert [(each["seq"], each["stream"]) for each in whole["chunks"]] == [
        (1, "stdout"),
        (2, "stderr"),
    ]
    assert (whole["exitCode"], whole["nextSeq"], whole["failure"]) == (0, 5, None)
    first = opened.peer.ask("process/read", processId="p", maxBytes=1)
    assert [each["seq"] for each in first["chunks"]] == [1]
    assert (first["closed"], first["exitCode"], first["nextSeq"]) == (False, None, 2)
    rest = opened.peer.ask("process/read", processId="p", afterSeq=1)
    assert rest["chunks"] == whole["chunks"][1:]


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    "given",
    [
        {"tty": True},
        {"pipeStdin": True},
        {"sandbox": {"mode": "read-only"}},
        {"enforceManagedNetwork": True},
        {"arg0": "another"},
        {"argv": []},
        {"argv": "ls"},
        {"cwd": "file:///etc"},
        {"cwd": "/host/work"},
        {"cwd": "file:///host/workers"},
    ],
)
@pytest.mark.slow
def test_a_process_that_is_no_action_is_refused(opened: Scene, given: Json) -> None:
    asked = {"processId": "p", "argv": ["ls"], "cwd": uri(""), **given}
    assert opened.peer.refused("process/start", **asked)["message"]
    assert outcome(opened) == []


@pytest.mark.slow
def test_ids_and_processes_that_are_not_there(opened: Scene) -> None:
    opened.peer.start("p", "true")
    again = {"processId": "p", "argv": ["ls"], "cwd": uri("")}
    assert "already" in opened.peer.refused("process/start", **again)["message"]
    assert opened.peer.ended("p")[0] == 0
    asked = opened.peer.ask
    assert asked("process/write", processId="p", chunk="") == {"status": "stdinClosed"}
    assert asked("process/write", processId="q", chunk="") == {"status": "unknownProcess"}
    assert asked("process/terminate", processId="q") == {"running": False}
    assert "no process" in opened.peer.refused("process/read", processId="q")["message"]
    assert "no process" in opened.peer.refused("process/signal", processId="q")["message"]


# Files


def test_files_are_written_and_read_by_actions(opened: Scene) -> None:
    for path, content in (("new/a b.txt", b"text\n"), ("bin", bytes(range(256))), ("empty", b"")):
        written = {"path": uri(path), "dataBase64": coded(content)}
        assert opened.peer.ask("fs/writeFile", **written) == {}
        assert (opened.world.root / path).read_bytes() == content
        assert opened.peer.ask("fs/readFile", path=uri(path)) == {"dataBase64": coded(content)}
    names = [name for name, _ in outcome(opened)]
    assert names == ["write_file", "read_file"] * 3


@given(content=some.lists(some.binary(max_size=1900)).map(b"\n".join))
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_file_is_read_whole_or_not_at_all(opened: Scene, content: bytes) -> None:
    (opened.world.root / "large").write_bytes(content)
    heard = opened.peer.answer(opened.peer.begin("fs/readFile", path=uri("large")))
    assert heard.get("result") == {"dataBase64": coded(content)} or "too large" in str(heard)


@pytest.mark.slow
def test_a_long_text_takes_several_actions(opened: Scene) -> None:
    content = b"".join(b"%d\n" % number for number in range(2000)) + b"end"
    (opened.world.root / "long").write_bytes(content)
    assert opened.peer.ask("fs/readFile", path=uri("long")) == {"dataBase64": coded(content)}
    assert len(outcome(opened)) > 3


@pytest.mark.slow
def test_what_is_too_long_for_an_action_is_refused(opened: Scene) -> None:
    written = {"path": uri("large"), "dataBase64": coded("é".encode() * (2 << 20))}
    assert "too_large" in opened.peer.refused("fs/writeFile", **written)["message"]
    assert outcome(opened) == []


@pytest.mark.slow
def test_what_lies_in_the_worktree(opened: Scene) -> None:
    root = opened.world.root
    (root / "a[1]*").write_text("xyz")
    (root / "to-file").symlink_to("a[1]*")
    (root / "to-folder").symlink_to("src")
    (root / "to-nothing").symlink_to("nothing")

    def kinds(path: str) -> tuple[bool, bool, bool]:
        found = opened.peer.ask("fs/getMetadata", path=uri(path))
        return found["isFile"], found["isDirectory"], found["isSymlink"]

    assert kinds("") == (False, True, False)
    assert kinds("src") == (False, True, False)
    assert kinds("a[1]*") == (True, False, False)
    assert kinds("to-file") == (True, False, True)
    assert kinds("to-folder") == (False, True, True)
    assert opened.peer.ask("fs/getMetadata", path=uri("a[1]*"))["size"] == 3
    missing = ("none", "none/below", "to-nothing", "a[1]*/below")
    for place in (*map(uri, missing), "file:///.git", "file:///host"):
        assert opened.peer.refused("fs/getMetadata", path=place)["code"] == wire.NOT_FOUND
    listed = opened.peer.ask("fs/readDirectory", path=uri(""))["entries"]
    assert {"fileName": "src", "isDirectory": True, "isFile": False} in listed
    assert opened.peer.refused("fs/readFile", path=uri("none"))["code"] == wire.NOT_FOUND


@pytest.mark.slow
def test_folders_are_made_and_files_moved_by_commands(opened: Scene) -> None:
    root, ask = opened.world.root, opened.peer.ask
    ask("fs/createDirectory", path=uri("-x/y z"), recursive=True)
    ask("fs/writeFile", path=uri("-x/f"), dataBase64=coded(b"1"))
    ask("fs/copy", sourcePath=uri("-x"), destinationPath=uri("c"), recursive=True)
    assert (root / "c" / "f").read_text() == "1"
    (root / "link").symlink_to("c")
    assert ask("fs/canonicalize", path=uri("link/f")) == {"path": uri("c/f")}
    ask("fs/remove", path=uri("-x/f"), recursive=False, force=False)
    ask("fs/remove", path=uri("c"), recursive=True, force=True)
    assert sorted(each.name for each in root.iterdir()) == ["-x", "link", "src"]
    gone = opened.peer.refused("fs/remove", path=uri("-x/f"), recursive=False, force=False)
    assert "No such file" in gone["message"]
    assert outcome(opened)[-1] == ("run_command", {"command": "rm -d -- -x/f"})


@pytest.mark.parametrize(
    "path", ["file:///etc/passwd", "file:///host/work/../../etc/passwd", "/etc/passwd", "http://x"]
)
def test_nothing_outside_of_the_worktree_is_read_or_written(opened: Scene, path: str) -> None:
    (opened.world.root / "out").symlink_to("/etc")
    for place in (path, uri("out/passwd"), uri("x%00y").replace("%25", "%")):
        opened.peer.refused("fs/readFile", path=place)
        opened.peer.refused("fs/writeFile", path=place, dataBase64="")
        opened.peer.refused("fs/canonicalize", path=place)
    assert not any("/etc" in str(arguments) for _, arguments in outcome(opened))


@pytest.mark.parametrize("method", ["fs/open", "fs/walk", "http/request", "environment/info", "x"])
@pytest.mark.slow
def test_what_has_no_counterpart_is_refused(opened: Scene, method: str) -> None:
    error = opened.peer.refused(method, path=uri(""))
    assert error["code"] == wire.UNKNOWN_METHOD
    assert "no counterpart" in error["message"]
    assert outcome(opened) == []


# Those that do wrong, or go

VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(),
    lambda inner: some.lists(inner) | some.dictionaries(some.text(), inner),
    max_leaves=8,
)
METHODS = ["process/start", "process/read", "fs/readFile", "fs/writeFile", "initialize", "fs/copy"]
KEYS = ["processId", "argv", "cwd", "path", "dataBase64", "tty", "waitMs", "sourcePath"]
MESSAGES = some.fixed_dictionaries(
    {},
    optional={
        "id": some.integers() | some.text() | VALUES,
        "method": some.sampled_from(METHODS) | VALUES,
        "params": some.dictionaries(some.sampled_from(KEYS), VALUES) | VALUES,
    },
).map(lambda message: json.dumps(message).encode())


@pytest.mark.slow
@given(line=some.binary() | MESSAGES)
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_garbage_is_answered_and_changes_nothing(opened: Scene, line: bytes) -> None:
    # Garbage may bear the number of a request that is still to come: its answer is not that one's.
    opened.peer.answers.clear()
    opened.peer.send(line)
    assert opened.peer.ask("process/write", processId="none") == {"status": "unknownProcess"}
    assert list((opened.world.root).iterdir()) == [opened.world.root / "src"]


@pytest.mark.slow
def test_a_line_that_is_too_long_ends_it(opened: Scene) -> None:
    opened.peer.send(b"x" * (LINE_LIMIT + 2))
    assert opened.peer.hear()["error"]["code"] == wire.INVALID_REQUEST
    assert opened.peer.process.wait(PATIENCE) == 0


def test_too_many_requests_are_refused(opened: Scene) -> None:
    opened.peer.start("first", "while ! test -e go; do sleep 0.01; done")
    numbers = [opened.peer.begin("fs/readFile", path=uri("none")) for _ in range(WAITING_LIMIT + 5)]
    assert "waiting" in opened.peer.answer(numbers[-1])["error"]["message"]
    (opened.world.root / "go").touch()
    assert opened.peer.answer(numbers[0])["error"]["code"] == wire.NOT_FOUND
    assert opened.peer.ended("first")[0] == 0


@pytest.mark.parametrize("how", ["leaves", "is killed"])
def test_what_goes_on_ends_with_the_peer(opened: Scene, how: str) -> None:
    opened.peer.start("p", "echo $$ > pid; exec sleep 1000")
    pid = opened.world.root / "pid"
    while not (pid.exists() and pid.read_text()):
        opened.peer.ask("process/read", processId="p")
    if how == "leaves":
        assert opened.peer.leave() == 0
    else:
        opened.peer.process.kill()
    opened.finish()
    assert gone(int(pid.read_text()))
    assert opened.world.codes == ["cancelled", "ok"]


def test_nobody_reads_the_answers(opened: Scene) -> None:
    assert opened.peer.process.stdout
    opened.peer.process.stdout.close()
    opened.peer.begin("fs/readFile", path=uri("none"))
    opened.peer.begin("fs/readFile", path=uri("none"))
    assert opened.peer.leave() == 0


@pytest.mark.slow
def test_the_run_ends_first(opened: Scene) -> None:
    opened.finish()
    assert "over" in opened.peer.refused("fs/readFile", path=uri("x"))["message"]
    opened.peer.start("p", "true")
    code, _, problem = opened.peer.ended("p")
    assert code == 126
    assert "over" in problem
    assert opened.peer.leave() == 0


def test_there_is_no_run(tmp_path: Path) -> None:
    peer = Peer(tmp_path / "none", tmp_path)
    _, problem = peer.process.communicate(timeout=PATIENCE)
    assert peer.process.returncode == 1
    assert problem.startswith(b"codex bridge: No run serves MCP at ")
