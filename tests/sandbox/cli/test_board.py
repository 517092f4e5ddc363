"""Runs as they go on: rows in a terminal, lines elsewhere, and nothing that steers."""

import errno
import io
import re
import time
from collections.abc import Iterator

import pytest

from sandbox.cli.board import Board, clock
from sandbox.cli.terminal import Progress
from sandbox.model.event import ActionTaken, Entry, Event
from sandbox.model.job import Job
from sandbox.model.usage import ModelUsage
from tests.sandbox.cli.pages.stored import ENDED

JOB = Job(task="humanize/file-sizes", task_digest="d", agent="mine\x1b[2J\u202e", trial=3)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1


class Gone(Terminal):
    def write(self, _: str) -> int:
        raise OSError(errno.EIO, "gone")


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm-256color")


def entry(event: Event) -> Entry:
    return Entry(
        sequence=1,
        wall_time="",
        elapsed=0.0,
        action_id="1",
        event=event,
        previous="",
        digest="",
    )


def shown(terminal: io.StringIO) -> Iterator[str]:
    """Lines, without what rich writes to move the cursor and to colour."""
    for text in re.split(r"[\r\n]+", terminal.getvalue()):
        yield re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).rstrip()


def acted(usage: ModelUsage) -> ActionTaken:
    command = {"command": "make \x1b]0;owned\x07" + "x" * 200}
    return ActionTaken(name="run_command", arguments={**command}, usage=usage)


def act(board: Board) -> None:
    row = board.begun(JOB)
    row.stage("starting a container")
    usage = ModelUsage(input_tokens=1200, output_tokens=34, cost=0.25)
    row.entry(entry(acted(usage)))
    board.doing("3 runs to go")
    time.sleep(0.6)
    row.entry(entry(ENDED))
    board.done("   1/3  passed")
    board.over(JOB)
    board.begun(JOB.model_copy(update={"trial": 4})).entry(entry(acted(usage)))
    board.doing("2 runs to go")
    time.sleep(0.4)


def test_a_terminal_shows_what_each_run_does_and_uses() -> None:
    terminal = Terminal()
    with Board(Progress(terminal), terminal) as board:
        act(board)
    lines = list(shown(terminal))
    row = next(text for text in lines if "run_command" in text)
    assert {"1,234", "0.250", "1"} <= set(row.split())
    assert all(len(text) <= 80 for text in lines)
    assert "3 runs to go, 1,234 tokens, cost 0.250" in lines
    assert "2 runs to go, 2,468 tokens, cost 0.500" in lines
    assert "   1/3  passed" in lines
    written = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue())
    assert not set(written) & {"\x1b", "\x07", "\u202e"}
    assert "\x1b[2J" not in terminal.getvalue()


def test_elsewhere_only_lines_that_stay_are_printed() -> None:
    pipe = io.StringIO()
    with Board(Progress(pipe), pipe) as board:
        act(board)
    assert pipe.getvalue() == "   1/3  passed\n"


@pytest.mark.parametrize("stream", [Gone(), None])
def test_an_output_that_is_gone_ends_nothing(stream: Gone | None) -> None:
    with Board(Progress(stream), stream) as board:
        act(board)


def test_spans_of_time_are_told_as_on_a_clock() -> None:
    assert [clock(seconds) for seconds in (0.4, 61, 3661)] == ["0:00", "1:01", "1:01:01"]
