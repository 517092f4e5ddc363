"""A person as the agent: what may be typed, and what is shown."""

import contextlib
import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from sandbox.cli.human import HumanAgent, understood
from sandbox.model.action import ACTIONS
from tests.sandbox.runs import World
from tests.sandbox.worlds import task


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "tree").mkdir()
    return World(tmp_path)


def act(world: World, *lines: str) -> str:
    """Type lines, then leave; what was shown."""
    near, far = os.pipe()
    os.write(far, "".join(f"{line}\n" for line in lines).encode())
    os.close(far)
    screen = io.StringIO()
    with os.fdopen(near, "rb", buffering=0) as keyboard:
        world.run(HumanAgent(keyboard, screen))
    return screen.getvalue()


@pytest.mark.parametrize(
    ("line", "action", "arguments"),
    [
        ("! ls -la | wc", "run_command", {"command": "ls -la | wc"}),
        ("!ls", "run_command", {"command": "ls"}),
        ("cat a b", "read_file", {"path": "a b"}),
        ("ls", "list_files", {}),
        ("ls src", "list_files", {"path": "src"}),
        ("grep a b", "search_repo", {"pattern": "a b"}),
        ("test", "run_tests", {}),
        ("test pytest -q", "run_tests", {"command": "pytest -q"}),
        ("diff", "git_diff", {}),
        (
            "ask network pip install x",
            "request_approval",
            {"scope": "network", "command": "pip install x"},
        ),
        ('answer {"n": 1}', "final_answer", {"fields": {"n": 1}}),
        (
            'read_file {"path": "a", "line_limit": 2}',
            "read_file",
            {"path": "a", "line_limit": 2},
        ),
        ("git_diff", "git_diff", {}),
    ],
)
def test_an_action_may_be_typed_in_short(
    line: str, action: str, arguments: dict[str, JsonValue]
) -> None:
    assert understood(line) == (action, arguments)


def test_files_of_this_side_are_sent(tmp_path: Path) -> None:
    (tmp_path / "p").write_text("--- a\n")
    assert understood(f"patch {tmp_path}/p") == ("apply_patch", {"patch": "--- a\n"})
    assert understood(f"write x.py {tmp_path}/p") == (
        "write_file",
        {"path": "x.py", "content": "--- a\n"},
    )


@given(line=st.text(min_size=1))
def test_whatever_is_typed_is_an_action_or_a_mistake(line: str) -> None:
    with contextlib.suppress(ValueError):
        action, _ = understood(line)
        assert action in ACTIONS


@pytest.mark.parametrize(
    "line", ["fly", "cat", "!", "ask network", "read_file {", "patch /no/such/file", "answer 1"]
)
def test_a_mistake_is_told_and_is_no_request(world: World, line: str) -> None:
    assert "`help` says more" in act(world, line)
    assert world.ended.turns == 0


def test_the_task_is_shown_and_what_comes_of_actions(world: World) -> None:
    shown = act(
        world, "! echo one; echo two >&2; exit 3", "cat nothing", "ls", "help", "quit", "ls"
    )
    assert "Do it." in shown
    for text in ("one\ntwo\nexit 3", "not_found: nothing does not exist", '"entries": []'):
        assert text in shown
    assert (world.ended.reason, world.ended.message) == ("agent_exited", "The person left.")
    assert world.codes == ["ok", "not_found", "ok"]


def test_nothing_that_is_shown_steers_the_terminal(world: World) -> None:
    shown = act(world, r"! printf '\033[2J\033]0;title\007'", r"! printf '\033' > 'a\b'; ls -l")
    assert "\x1b" not in shown
    assert "\\x1b[2J" in shown


def test_the_end_of_the_input_is_the_end(world: World) -> None:
    assert "over: agent_exited" in act(world, "ls")
    assert world.ended.turns == 1


def test_an_answer_ends_the_run(world: World) -> None:
    world.task = task(final={"n": {"type": "integer"}})
    shown = act(world, 'answer {"n": "x"}', 'answer {"n": 1}', "ls")
    assert "n: integer" in shown
    assert world.codes == ["bad_arguments", "ok"]
    assert world.ended.reason == "final_answer"


def test_a_person_may_be_too_slow(world: World) -> None:
    world.task = task(limits={"silence_seconds": 0.05})
    near, far = os.pipe()
    with os.fdopen(near, "rb", buffering=0) as keyboard:
        world.run(HumanAgent(keyboard, io.StringIO()))
    os.close(far)
    assert world.ended.reason == "agent_silent"
