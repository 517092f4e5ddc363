"""Open sessions: acted in from outside, outliving their callers, recorded however they end."""

import json
import os
import re
import shlex
import signal
import stat
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine
from sandbox.model import trace as traces
from sandbox.run.run_containers import RUN
from sandbox.tasks import library
from sandbox.tasks.images import BuiltImage
from tests.end_to_end.commands import (
    HUMANIZE,
    NO_ENGINE,
    SANDBOX,
    Ended,
    ended_containers,
    recorded,
    sandbox,
)
from tests.end_to_end.opened import Opened
from tests.end_to_end.terminal import CONTROL_C, Terminal
from tests.end_to_end.test_interrupts import alive, gone, interrupted

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory, image: BuiltImage) -> Iterator[Opened]:
    """A session for tests that do not end it."""
    with Opened(tmp_path_factory.mktemp("lasting") / "runs") as session:
        yield session


@pytest.mark.slow
def test_a_script_solves_the_task(runs: Path, engine: Engine) -> None:
    with Opened(runs, "--name", "script") as session:
        for each in library.load(HUMANIZE).task.oracle:
            assert session.reply(each.action, each.arguments).status == "ok"
        closed = session.close()
        assert (closed.code, closed.err) == (0, "")
        assert closed.out.startswith("ended: answered after 17 turns")
        assert "\nverdict: passed\n" in closed.out
        assert gone(lambda: alive(session.keeper))
        late = session.call("list_files", {})
        assert (late.code, late.out) == (2, "")
        assert session.close("--json").code == 0
    stored = recorded(runs, engine)
    assert stored.record.agent == "script"
    assert stored.ended.reason == "final_answer"


@pytest.mark.slow
def test_an_action_that_is_refused_is_told_by_code_and_json(runs: Path, engine: Engine) -> None:
    with Opened(runs) as session:
        refused = session.call("read_file", {"path": "no such file"})
        assert refused.code == 1
        assert json.loads(refused.out)["error_code"] == "not_found"
        failing = session.reply("run_command", {"command": "exit 7"})
        assert failing.result["exit_code"] == 7
        garbage = sandbox("call", session.id, "read_file", "{", "--runs", runs)
        assert (garbage.code, garbage.out) == (2, "")
        assert sandbox("call", session.id, "read_file", "[]", "--runs", runs).code == 2
        closed = session.close("--json")
        assert closed.code == 1
        assert json.loads(closed.out)["verdict"] == "failed"
    stored = recorded(runs, engine)
    assert (stored.ended.reason, stored.ended.turns) == ("agent_exited", 2)
    assert stored.ended.message == "The session was closed."


@pytest.mark.slow
def test_arguments_come_from_standard_input(lasting: Opened) -> None:
    called = subprocess.run(
        [SANDBOX, "call", lasting.id, "write_file", "-", "--runs", str(lasting.runs)],
        input=json.dumps({"path": "new", "content": "ä" * 300_000}).encode(),
        capture_output=True,
        check=True,
    )
    assert json.loads(called.stdout)["result"]["size"] == 600_000


def test_arguments_and_replies_need_no_json(lasting: Opened, tmp_path: Path) -> None:
    patch = tmp_path / "x.patch"
    patch.write_text("--- /dev/null\n+++ b/note \"x\".txt\n@@ -0,0 +1 @@\n+a 'b' \\n\n")

    def told(*words: str | Path) -> Ended:
        return sandbox("call", lasting.id, *words, "--text", "--runs", lasting.runs)

    assert told("apply_patch", "--file", f"patch={patch}").code == 0
    line = "cat note*; printf '\\033[1mno\\n' >&2; exit 3"
    shown = told("run_command", "--set", f"command={line}")
    assert (shown.code, shown.out.splitlines()) == (
        0,
        ["a 'b' \\n", "\\x1b[1mno", "exit 3"],
    )
    assert re.fullmatch(r"left: [0-9]+ actions, [0-9]+ seconds\n", shown.err)
    assert told("run_command", "--set", "command=true").out == "exit 0\n"
    assert told("run_command", "--set", "command=kill -9 $$").out == "ended by signal 9\n"
    refused = told("read_file", "--set", "path=nope")
    assert (refused.code, refused.out) == (1, "not_found: nope does not exist.\n")
    assert told("read_file", "--set", "path").code == 2
    assert told("apply_patch", "--file", "patch=/nonexistent").code == 2


def test_a_quote_too_many_in_the_answer_loses_no_run(runs: Path) -> None:
    with Opened(runs) as session:
        unread = sandbox("call", session.id, "final_answer", '{"fields": {}}}', "--runs", runs)
        assert unread.code == 2
        kept = session.close()
        assert (kept.code, kept.out) == (2, "")
        assert "is still open, for its last answer was refused" in kept.err
        assert session.reply("list_files", {}).turns_left is not None
        refused = session.call("final_answer", {"fields": {}})
        assert refused.code == 1
        assert session.close().code == 2
        assert session.close().code == 1
        late = session.call("list_files", {})
        assert "is over: failed (The session was closed)" in late.err


@pytest.mark.slow
def test_it_outlives_whoever_opened_it(runs: Path) -> None:
    line = shlex.join([SANDBOX, "open", HUMANIZE, "--runs", str(runs)])
    shell = subprocess.Popen(
        ["bash", "-c", f"{line}; sleep 600"], stdout=subprocess.PIPE, start_new_session=True
    )
    assert shell.stdout is not None
    run = shell.stdout.readline().decode().strip()
    os.killpg(shell.pid, signal.SIGKILL)
    shell.communicate()
    called = sandbox("call", run, "list_files", "--runs", runs)
    assert called.code == 0
    assert sandbox("close", run, "--runs", runs).code == 1


@pytest.mark.slow
def test_it_outlives_its_terminal(runs: Path) -> None:
    with Terminal("open", HUMANIZE, "--runs", runs) as terminal:
        terminal.until("sandbox close")
        assert terminal.end() == 0
    assert sandbox("call", "last", "list_files", "--runs", runs).code == 0
    assert sandbox("close", "last", "--runs", runs).code == 1


def test_a_hangup_does_not_end_it(lasting: Opened) -> None:
    os.kill(lasting.keeper, signal.SIGHUP)
    assert lasting.reply("list_files", {}).status == "ok"


@pytest.mark.slow
def test_a_caller_that_is_killed_changes_nothing(lasting: Opened) -> None:
    arguments = json.dumps({"command": "sleep 1; echo done > done"})
    caller = subprocess.Popen(
        [SANDBOX, "call", lasting.id, "run_command", arguments, "--runs", str(lasting.runs)]
    )
    while b"echo done > done" not in lasting.folder.trace.read_bytes():
        assert caller.poll() is None
    caller.kill()
    caller.wait()
    assert lasting.reply("read_file", {"path": "done"}).result["content"] == "done\n"


@pytest.mark.slow
def test_one_that_nobody_calls_ends(runs: Path, engine: Engine) -> None:
    with Opened(runs, "--idle", "0.3") as session:
        assert gone(lambda: alive(session.keeper))
        late = session.call("list_files", {})
        assert late.code == 2
        assert session.close().code == 1
    stored = recorded(runs, engine)
    assert stored.ended.reason == "agent_silent"
    assert stored.record.verdict == "failed"


@pytest.mark.thorough
def test_several_at_once_lose_nothing(runs: Path) -> None:
    def work(number: int) -> str:
        with Opened(runs) as session:
            for turn in range(3):
                line = f"echo {number}.{turn} >> said"
                assert session.reply("run_command", {"command": line}).status == "ok"
            said = session.reply("read_file", {"path": "said"}).result["content"]
            assert session.close().code == 1
            return str(said)

    with ThreadPoolExecutor(3) as pool:
        said = list(pool.map(work, range(3)))
    assert said == [f"{number}.0\n{number}.1\n{number}.2\n" for number in range(3)]


def test_two_callers_take_turns(lasting: Opened) -> None:
    before = len(traces.read(lasting.folder.trace).entries)

    def work(number: int) -> int:
        return lasting.call("run_command", {"command": f"echo {number} >> said; sleep 0.1"}).code

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [0] * 4
    kinds = [
        entry.event.kind
        for entry in traces.read(lasting.folder.trace).entries[before:]
        if entry.event.kind in ("action", "observation")
    ]
    assert kinds == ["action", "observation"] * 4


@pytest.mark.slow
def test_one_whose_process_is_gone_is_told_and_noted(runs: Path, engine: Engine) -> None:
    with Opened(runs) as session:
        session.reply("list_files", {})
        session.kill()
        ended_containers(engine, session.id)
        assert "process is gone" in sandbox("show", "last", "--runs", runs).out
        called = session.call("list_files", {})
        assert called.code == 3
        assert "Nobody answers" in called.err
        closed = session.close()
        assert closed.code == 3
        assert "was ended before the run was" in closed.out
        assert engine.containers(f"{RUN}={session.id}") == []
        assert not session.folder.calls.exists()
        assert session.close().code == 3
    assert session.folder.record().verdict == "error"
    assert traces.read(session.folder.trace).entries[-1].event.kind == "observation"


@pytest.mark.slow
def test_gc_notes_those_whose_process_is_gone_and_leaves_the_others(
    runs: Path, engine: Engine
) -> None:
    with Opened(runs) as dead, Opened(runs) as living:
        dead.kill()
        left = ended_containers(engine, dead.id)
        cleaned = json.loads(sandbox("gc", dead.id[:8], "--json", "--runs", runs).out)
        assert (cleaned["sessions"], cleaned["containers"]) == ([dead.id], left)
        assert dead.folder.record().verdict == "error"
        assert json.loads(sandbox("gc", living.id, "--json", "--runs", runs).out)["sessions"] == []
        assert living.reply("list_files", {}).status == "ok"


@pytest.mark.slow
def test_which_are_open_is_told(lasting: Opened, runs: Path) -> None:
    listed = sandbox("tasks", "--runs", lasting.runs)
    assert any(row.startswith(f"open  {lasting.id}") for row in listed.out.splitlines())
    rows = json.loads(sandbox("tasks", "--json", "--runs", lasting.runs).out)
    assert {row["id"]: row["open"] for row in rows}[HUMANIZE] == [lasting.id]
    assert "is open to" in sandbox("show", lasting.id, "--runs", lasting.runs).out
    traced = sandbox("trace", lasting.id, "--runs", lasting.runs)
    assert (traced.code, traced.err) == (0, "")
    assert traced.out.rstrip().endswith("events so far, hash chain whole, and the run goes on")
    assert "open  " not in sandbox("tasks", "--runs", runs).out
    for verb in ("diff", "grade", "replay"):
        told = sandbox(verb, lasting.id, "--runs", lasting.runs)
        assert (told.code, told.out) == (2, "")
        assert "has not ended" in told.err


@pytest.mark.slow
def test_a_trace_that_was_changed_is_told_while_the_run_goes_on(runs: Path) -> None:
    with Opened(runs) as session:
        session.reply("list_files", {})
        session.folder.trace.write_bytes(
            session.folder.trace.read_bytes().replace(b"list_files", b"list_filez")
        )
        traced = sandbox("trace", session.id, "--runs", runs)
    assert "is not whole" in traced.err
    assert traced.code != 0


def test_only_the_owner_may_call(lasting: Opened) -> None:
    assert stat.S_IMODE(lasting.folder.calls.stat().st_mode) == 0o600


@pytest.mark.slow
def test_a_long_path_is_no_obstacle(tmp_path: Path) -> None:
    with Opened(tmp_path / "long" / ("x" * 200)) as session:
        assert session.reply("list_files", {}).status == "ok"
        assert session.close().code == 1


@pytest.mark.slow
def test_ctrl_c_while_it_opens(runs: Path, engine: Engine) -> None:
    with Terminal("open", HUMANIZE, "--runs", runs) as terminal:
        terminal.until("starting a container")
        terminal.press(CONTROL_C)
        assert terminal.end() == 130
    interrupted(recorded(runs, engine))


def test_one_that_is_asked_to_end_is_recorded_as_interrupted(runs: Path, engine: Engine) -> None:
    with Opened(runs) as session:
        os.kill(session.keeper, signal.SIGTERM)
        assert gone(lambda: alive(session.keeper))
        assert session.close().code == 3
    interrupted(recorded(runs, engine))


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("open", "no/task"), 2, "no/task"),
        (("open", HUMANIZE, "--approver", "terminal"), 2, "outlives its terminal"),
        (("open", HUMANIZE, "--approver", "nobody"), 2, "no approver"),
        (("open", HUMANIZE, "--idle", "0"), 2, "--idle"),
        (("call", "last", "list_files"), 2, "No run"),
        (("close", "last"), 2, "No run"),
    ],
)
def test_what_cannot_be_is_refused(
    runs: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    ended = sandbox(*arguments, "--runs", runs)
    assert ended.code == code
    assert said in ended.err
    assert not list(runs.glob("*/run.json"))


def test_without_an_engine_it_says_so(runs: Path) -> None:
    ended = sandbox("open", HUMANIZE, "--runs", runs, DOCKER_HOST=NO_ENGINE)
    assert (ended.code, ended.out) == (3, "")
    assert "engine" in ended.err


@pytest.mark.slow
def test_a_run_that_was_never_open(runs: Path) -> None:
    assert sandbox("run", HUMANIZE, "--agent", "null", "--runs", runs).code == 1
    told = sandbox("call", "last", "list_files", "--runs", runs).err
    assert ("is over: failed" in told, HUMANIZE in told) == (True, False)
    assert sandbox("close", "last", "--runs", runs).code == 1


@pytest.mark.slow
def test_a_person_acts_at_the_terminal(runs: Path, engine: Engine) -> None:
    with Terminal("run", HUMANIZE, "--agent", "human", "--runs", runs) as terminal:
        terminal.until("sandbox> ")
        assert "Ticket HUM-214." in terminal.text
        terminal.press(b"! pwd\r")
        terminal.until("/home/agent/humanize\r\n")
        terminal.press(b"quit\r")
        assert terminal.end() == 1
    stored = recorded(runs, engine)
    assert stored.record.agent == "human"
    assert stored.ended.turns == 1
    refused = sandbox("run", HUMANIZE, "--agent", "human", "--trials", "2", "--runs", runs)
    assert (refused.code, "one run at a time" in refused.err) == (2, True)
