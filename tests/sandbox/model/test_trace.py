"""The trace: what is written is read back, and no line can be altered unseen."""

import errno
import hashlib
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from sandbox.model import trace
from sandbox.model.errors import StoreError
from sandbox.model.event import (
    ActionTaken,
    Entry,
    Event,
    FilesChanged,
    Final,
    Observed,
    RunEnded,
    RunStarted,
)
from sandbox.model.observation import Observation
from sandbox.model.trace import TraceWriter

STARTED = RunStarted(
    run="r", task="t/t", task_digest="d", image="i", agent="a", mode="raw", coverage="top-level"
)
ENDED = RunEnded(reason="final_answer", turns=1, seconds=1.5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trace.jsonl"


def record(path: Path, *events: Event) -> list[bytes]:
    with TraceWriter(path) as writer:
        for event in events:
            writer.append(event, "1")
    return path.read_bytes().splitlines(keepends=True)


def whole(path: Path) -> list[bytes]:
    action = ActionTaken(name="run_command", arguments={"command": "é\n\0"})
    observed = Observed(name="run_command", observation=Observation(result={"exit_code": 0}))
    return record(path, STARTED, action, observed, FilesChanged(paths=("a", "b")), ENDED)


def test_what_is_written_is_read_back(path: Path) -> None:
    heard: list[Entry] = []
    with TraceWriter(path, heard.append) as writer:
        given_back = [writer.append(STARTED), writer.append(ENDED, "7")]
    found = trace.read(path)
    assert found.problem == ""
    assert list(found.entries) == given_back == heard
    assert [entry.sequence for entry in found.entries] == [0, 1]
    assert found.entries[1].action_id == "7"
    assert found.entries[0].previous == hashlib.sha256(b"").hexdigest()
    assert 0 <= found.entries[0].elapsed <= found.entries[1].elapsed


def test_each_line_is_in_the_file_at_once(path: Path) -> None:
    with TraceWriter(path) as writer:
        writer.append(STARTED)
        assert len(path.read_bytes().splitlines()) == 1
        found = trace.read(path)
        assert "does not end with run_ended" in found.problem
        assert found.unended


def test_the_chain_can_be_verified_from_its_description(path: Path) -> None:
    previous = hashlib.sha256(b"").hexdigest()
    for line in whole(path):
        fields = json.loads(line)
        assert fields.pop("previous") == previous
        digest = fields.pop("digest")
        body = json.dumps(fields, sort_keys=True, separators=(",", ":"))
        previous = hashlib.sha256((previous + body).encode()).hexdigest()
        assert digest == previous


@pytest.mark.parametrize(
    ("alter", "kept", "problem"),
    [
        (lambda _: [], 0, "is empty"),
        (lambda lines: lines[:-1], 4, "does not end with run_ended but with files_changed"),
        (lambda lines: lines[1:], 0, "line 1 has the sequence number 1 in place of 0"),
        (lambda lines: lines[:2] + lines[3:], 2, "line 3 has the sequence number 3"),
        (lambda lines: [*lines[:2], lines[1], *lines[2:]], 2, "line 3 has the sequence number 1"),
        (lambda lines: [*lines[:-1], lines[-1][:-9]], 4, "line 5 is truncated"),
        (lambda lines: [*lines[:-1], lines[-1].rstrip()], 4, "line 5 is truncated"),
        (lambda lines: [lines[0], b"nonsense\n", *lines[2:]], 1, "line 2 is not JSON"),
        (lambda lines: [lines[0], b"\xff\n", *lines[2:]], 1, "line 2 is not JSON"),
        (lambda lines: [lines[0], b"{}\n", *lines[2:]], 1, "line 2 is not an entry"),
        (lambda lines: [lines[0], lines[1].replace(b"\\n", b"\\t")], 1, "line 2 was altered"),
        (lambda lines: [lines[0].replace(b'{"', b'{ "', 1)], 0, "line 1 was altered"),
        (lambda lines: [*lines, lines[-1]], 5, "line 6 has the sequence number 4"),
    ],
)
def test_the_first_broken_line_is_named(
    path: Path, alter: Callable[[list[bytes]], list[bytes]], kept: int, problem: str
) -> None:
    path.write_bytes(b"".join(alter(whole(path))))
    found = trace.read(path)
    assert problem in found.problem
    assert len(found.entries) == kept
    assert found.unended == problem.startswith(("is empty", "does not end"))


def test_a_line_of_another_chain_is_found(path: Path, tmp_path: Path) -> None:
    lines = whole(path)
    others = record(tmp_path / "other.jsonl", STARTED, Final(fields={}), ENDED)
    path.write_bytes(b"".join([lines[0], others[1], *lines[2:]]))
    assert "line 2 does not follow the line before" in trace.read(path).problem


def test_a_run_starts_and_ends_once(path: Path, tmp_path: Path) -> None:
    record(path, ENDED)
    assert "line 1 does not start a run: it is run_ended" in trace.read(path).problem
    record(tmp_path / "2", STARTED, STARTED, ENDED)
    assert "line 2 starts a run a second time" in trace.read(tmp_path / "2").problem
    record(tmp_path / "3", STARTED, ENDED, ENDED)
    assert "line 3 follows the end of the run" in trace.read(tmp_path / "3").problem


def test_lines_of_several_threads_are_whole(path: Path) -> None:
    with TraceWriter(path) as writer:
        writer.append(STARTED)

        def work(name: str) -> None:
            for _ in range(50):
                writer.append(FilesChanged(paths=(name * 5000,)), name)

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        writer.append(ENDED)
    found = trace.read(path)
    assert found.problem == ""
    assert len(found.entries) == 202


def test_a_trace_is_never_overwritten(path: Path) -> None:
    whole(path)
    with pytest.raises(StoreError, match="cannot be made: File exists"):
        TraceWriter(path)


def test_a_missing_trace_is_a_store_error(path: Path) -> None:
    with pytest.raises(StoreError, match="No such file"):
        trace.read(path)


def test_after_the_end_nothing_is_recorded(path: Path) -> None:
    writer = TraceWriter(path)
    writer.close()
    writer.close()
    with pytest.raises(StoreError, match="closed"):
        writer.append(STARTED)


def test_a_full_disk_is_named_and_leaves_whole_lines(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = os.write

    def full(file: int, data: bytes) -> int:
        if len(data) > 600:
            return genuine(file, data[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    with TraceWriter(path) as writer:
        writer.append(STARTED)
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(StoreError, match="disk is full"):
            writer.append(FilesChanged(paths=("a" * 400,)))
        monkeypatch.setattr(os, "write", genuine)
        writer.append(ENDED)
    assert trace.read(path).problem == ""


def test_an_interrupted_line_is_as_if_it_had_not_been(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = os.write

    def interrupted(file: int, data: bytes) -> int:
        genuine(file, data)
        raise KeyboardInterrupt

    with TraceWriter(path) as writer:
        writer.append(STARTED)
        monkeypatch.setattr(os, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            writer.append(FilesChanged(paths=("a",)))
        monkeypatch.setattr(os, "write", genuine)
        writer.append(ENDED)
    found = trace.read(path)
    assert found.problem == ""
    assert [entry.event for entry in found.entries] == [STARTED, ENDED]


TEXT = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=8,
)


@pytest.mark.slow
@settings(deadline=None)
@given(fields=st.dictionaries(TEXT, JSON))
def test_every_value_survives(
    tmp_path_factory: pytest.TempPathFactory, fields: dict[str, JsonValue]
) -> None:
    path = tmp_path_factory.mktemp("trace") / "trace.jsonl"
    record(path, STARTED, Final(fields=fields), ENDED)
    found = trace.read(path)
    assert found.problem == ""
    event = found.entries[1].event
    assert isinstance(event, Final)
    assert event.fields == fields


@settings(deadline=None)
@given(place=st.floats(0, 1, exclude_max=True), change=st.integers(1, 255))
def test_no_byte_can_be_changed_unseen(
    tmp_path_factory: pytest.TempPathFactory, place: float, change: int
) -> None:
    path = tmp_path_factory.mktemp("trace") / "trace.jsonl"
    content = bytearray(b"".join(whole(path)))
    content[int(place * len(content))] ^= change
    path.write_bytes(content)
    assert trace.read(path).problem
