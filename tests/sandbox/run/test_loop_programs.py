"""The loop with programs that misbehave, and with what ends a run from outside."""

import os
import threading
import time
import traceback
from pathlib import Path

import pytest

from sandbox.agents.program_agent import CommandAgent
from sandbox.model.errors import AgentError, SessionLostError, StoreError
from tests.sandbox.runs import ANSWER, FINAL, LOOK, World, command
from tests.sandbox.worlds import task


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "tree").mkdir()
    return World(tmp_path)


# Programs that misbehave


ASK = 'print(\'{"id": "%d", "action": "list_files"}\' % number, flush=True)'


def test_a_program_that_behaves(world: World) -> None:
    ended = world.program(
        """
import json, sys
briefing = json.loads(input())
assert [action["name"] for action in briefing["actions"]][0] == "read_file"
assert briefing["limits"]["turns"] == 100 and briefing["final"] == {}
def act(identifier, action, **arguments):
    print(json.dumps({"id": identifier, "action": action, "arguments": arguments}), flush=True)
    reply = json.loads(input())
    assert reply["id"] == identifier
    return reply
assert act("a", "run_command", command="echo hi")["result"]["stdout"] == "hi\\n"
assert act("b", "final_answer", fields={})["result"] == {"accepted": True}
assert json.loads(input()) == {"ended": "final_answer", "message": ""}
assert sys.stdin.read() == ""
print("fine", file=sys.stderr)
"""
    )
    assert (world.folder / "agent.log").read_text() == "fine\n"
    assert ended.reason == "final_answer"


def test_the_expected_answer_is_not_told(world: World) -> None:
    world.task = task(final=ANSWER)
    world.program("import sys; sys.stderr.write(input())")
    log = (world.folder / "agent.log").read_text()
    assert '"final":{"text":"string","count":"integer"' in log
    assert "SECRET" not in log
    assert "src/a.py" not in log


def test_a_program_that_cannot_start(world: World) -> None:
    with pytest.raises(AgentError, match="no-such-program"):
        world.run(CommandAgent("no-such-program"))
    assert world.kinds == ["run_started", "run_ended"]
    assert world.ended.reason == "agent_exited"
    assert "no-such-program: No such file" in world.ended.message


def test_a_program_that_exits_early(world: World) -> None:
    ended = world.program("raise SystemExit(3)")
    assert (ended.reason, ended.message) == ("agent_exited", "The agent exited with status 3.")


def test_a_program_that_exits_and_leaves_a_process_at_its_output(world: World) -> None:
    source = f"import subprocess\nnumber = 1\n{ASK}\nsubprocess.Popen(['sleep', '99'])"
    assert world.program(source).reason == "agent_exited"
    assert world.codes == ["ok"]


def test_a_program_that_is_silent(world: World) -> None:
    world.task = task(limits={"silence_seconds": 0.2})
    ended = world.program("import time; time.sleep(99)", grace=0.1)
    assert ended.reason == "agent_silent"


def test_garbage_is_answered_and_forgiven(world: World) -> None:
    source = f"import os\nos.write(1, b'\\xff\\n{{\\n' + b'[' * 99999 + b'\\n')\nnumber = 1\n{ASK}"
    assert world.program(source).reason == "agent_exited"
    assert world.codes == ["bad_request"] * 3 + ["ok"]
    action = world.entries[1].event
    assert action.kind == "action"
    assert (action.name, action.arguments) == ("?", {"line": "�"})


def test_garbage_without_end_ends_the_run(world: World) -> None:
    ended = world.program("while True: print('Thinking...', flush=True)", grace=0.1)
    assert ended.reason == "agent_garbage"
    assert world.codes == ["bad_request"] * 10


def test_a_line_of_100_megabytes(world: World) -> None:
    source = (
        f"import os\nfor _ in range(100): os.write(1, b'x' * (1 << 20))\nprint()\nnumber = 1\n{ASK}"
    )
    assert world.program(source).reason == "agent_exited"
    assert world.codes == ["bad_request", "ok"]


def test_an_id_may_be_used_once(world: World) -> None:
    world.program(f"number = 1\n{ASK}\n{ASK}\nnumber = 2\n{ASK}")
    assert world.codes == ["ok", "bad_request", "ok"]


def test_requests_without_waiting_are_answered_in_order(world: World) -> None:
    source = f"""
import json, sys
for number in range(50): {ASK}
input()
print([json.loads(input())["id"] for number in range(50)], file=sys.stderr)
"""
    world.program(source)
    expected = str([str(number) for number in range(50)])
    assert (world.folder / "agent.log").read_text().strip() == expected


def test_a_flood_of_errors(world: World) -> None:
    source = f"import os\nfor _ in range(8): os.write(2, b'x' * (1 << 20))\nnumber = 1\n{ASK}"
    assert world.program(source).reason == "agent_exited"
    assert world.codes == ["ok"]


@pytest.mark.parametrize("descriptor", [0, 1])
def test_a_program_that_closes_a_pipe(world: World, descriptor: int) -> None:
    source = f"import os\nnumber = 1\n{ASK}\nos.close({descriptor})"
    assert world.program(source).reason == "agent_exited"
    assert world.codes == ["ok"]


# What ends a run from outside


def test_a_lost_session_is_recorded_and_raised(world: World) -> None:
    world.session.lost = SessionLostError("The container is gone.")
    with pytest.raises(SessionLostError, match="gone"):
        world.act(LOOK, command("true"), LOOK)
    assert world.kinds == ["run_started", "action", "observation", "action", "run_ended"]
    assert (world.ended.reason, world.ended.message) == ("session_lost", "The container is gone.")


def test_a_session_that_is_lost_while_rules_look_at_a_path(world: World) -> None:
    world.session.lost = SessionLostError("The container is gone.")
    with pytest.raises(SessionLostError):
        world.act(("read_file", {"path": "a"}))
    assert world.kinds == ["run_started", "action", "run_ended"]


def test_a_session_that_is_lost_at_the_very_end(world: World) -> None:
    world.session.lost = SessionLostError("The container is gone.")
    with pytest.raises(SessionLostError) as raised:
        world.act(FINAL)
    assert world.ended.reason == "session_lost"
    # The error holds what it passed through, which must not hold it: all of it goes at once then.
    loops = [frame.f_locals.get("loop") for frame, _ in traceback.walk_tb(raised.tb)]
    assert [loop.lost for loop in loops if loop is not None] == [None]


def test_an_interruption_is_recorded_and_raised(world: World) -> None:
    world.session.lost = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        world.act(command("true"))
    assert world.ended.reason == "interrupted"


def test_an_interruption_ends_a_waiting_agent(world: World) -> None:
    def interrupt() -> None:
        while not (world.folder / "agent.log").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), 2)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        world.program("import time; time.sleep(99)", grace=0.1)
    thread.join()
    assert world.ended.reason == "interrupted"


def test_a_defect_of_the_harness_is_recorded_and_raised(world: World) -> None:
    world.session.lost = StoreError("The disk is full.")
    with pytest.raises(StoreError):
        world.act(command("true"))
    assert world.ended.reason == "harness_error"
    assert "The disk is full" in world.ended.message
