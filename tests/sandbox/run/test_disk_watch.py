"""The disk as a limit, in a real container and with a disk that only says that it is full."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from sandbox.container.engines.base import Session
from sandbox.container.engines.fake import FakeEngine
from sandbox.model.errors import DiskError, UsageError
from sandbox.model.event import RunEnded
from sandbox.model.session import MEBIBYTE, DiskUse
from sandbox.model.task import RunLimits
from sandbox.run.disk_watch import DiskWatch, objection, ready, reserve
from tests.sandbox.local_session import LocalSession
from tests.sandbox.run.containers import Container
from tests.sandbox.runs import FINAL, World, command

LIMITS = RunLimits(disk_bytes=64 * MEBIBYTE, files=2000, command_seconds=60.0)
End = Callable[..., RunEnded]
DEEP = """python3 -c '
import os, time
for _ in range(30):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
open("deep", "wb").write(bytes(200 << 20))
time.sleep(50)'"""


@pytest.fixture
def end(container: Container) -> End:
    """Runs commands within these limits; gives the run's end."""
    task = container.workspace.task.model_copy(update={"limits": LIMITS})
    container.workspace = replace(container.workspace, task=task)

    def run(*lines: str) -> RunEnded:
        container.act(*map(command, lines), FINAL)
        ended = container.trace.entries[-1].event
        assert isinstance(ended, RunEnded)
        return ended

    return run


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize(
    "line",
    [
        "head -c 200M /dev/zero > /tmp/big; sleep 50",
        "mkdir m; for i in $(seq 50); do head -c 4M /dev/zero > m/$i; done; sleep 50",
        "exec 7> /tmp/big; rm /tmp/big; head -c 200M /dev/zero >&7; sleep 50",
        "cd /tmp; seq 5000 | xargs touch; sleep 50",
        DEEP,
    ],
    ids=["one file", "many files", "a file without a name", "files", "a deep file"],
)
def test_who_writes_too_much_is_ended_and_it_is_said(end: End, line: str) -> None:
    ended = end(line, "echo more")
    assert ended.reason == "disk_limit"
    assert ended.seconds < 45
    assert ended.message.startswith("It has ")


@pytest.mark.engine
def test_what_is_written_last_counts_too(end: End) -> None:
    ended = end("head -c 200M /dev/zero > /tmp/big")
    assert ended.reason == "disk_limit"


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize(
    "line",
    [
        "truncate -s 1T /tmp/sparse",
        "head -c 40M /dev/zero > /tmp/a; for i in $(seq 50); do ln /tmp/a /tmp/a.$i; done",
        "for i in 1 2 3 4; do head -c 40M /dev/zero > /tmp/a; sleep 0.3; rm /tmp/a; done",
        "head -c 100M /dev/zero > /dev/shm/memory; sleep 1; rm /dev/shm/memory",
    ],
    ids=["sparse", "names of one file", "one after the other", "memory"],
)
def test_what_takes_little_of_the_disk_is_no_offence(end: End, line: str) -> None:
    assert end(line).reason == "final_answer"


@pytest.mark.parametrize(
    ("used", "said"),
    [
        (DiskUse(None, None, None), ""),
        (DiskUse(64 * MEBIBYTE, 2000, 0), ""),
        (DiskUse(64 * MEBIBYTE + 1, 0, 0), "It has written 67108865 bytes and may write 67108864."),
        (DiskUse(None, 2001, None), "It has written more than the 2000 files that it may."),
    ],
)
def test_a_limit_is_reached_beyond_it(used: DiskUse, said: str) -> None:
    assert objection(used, LIMITS) == said


def watching(taken: DiskUse) -> DiskWatch:
    return DiskWatch(cast(Session, LocalSession(taken=taken)), LIMITS)


def test_a_disk_that_others_have_filled_is_nobodys_failure() -> None:
    watch = watching(DiskUse(1, 1, reserve() - 1))
    watch.look()
    with pytest.raises(DiskError, match="has 1073741823 bytes left"):
        watch.check()
    assert not watch.exceeded


def test_who_has_filled_it_is_charged_though_little_is_left() -> None:
    watch = watching(DiskUse(100 * MEBIBYTE, 1, 0))
    watch.look()
    watch.check()
    assert watch.exceeded


class Small(FakeEngine):
    """An engine whose disk has as much left as the reserve and half a run."""

    def free_bytes(self) -> int:  # type: ignore[override]
        return reserve() + LIMITS.disk_bytes // 2


def test_no_run_is_begun_that_could_take_the_reserve(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DiskError, match="Nothing was run"):
        ready(Small(), LIMITS)
    monkeypatch.setenv("SANDBOX_DISK_RESERVE", "0")
    with pytest.raises(DiskError):
        ready(Small(), LIMITS)
    ready(FakeEngine(), LIMITS)


def test_a_reserve_that_is_no_number_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_DISK_RESERVE", "1G")
    with pytest.raises(UsageError, match="SANDBOX_DISK_RESERVE is '1G'"):
        reserve()


def test_a_run_during_which_the_disk_was_full_has_no_end_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    world = World(tmp_path)
    world.session.taken = DiskUse(1, 1, 0)
    with pytest.raises(DiskError):
        world.act(FINAL)
