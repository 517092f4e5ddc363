"""Both sides count alike, and no bytes break the reader."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.container.supervisor import compiler, protocol
from sandbox.container.supervisor.protocol import FrameReader, Reply
from sandbox.model.errors import ProtocolError

CONSTANTS = (
    "PROTOCOL_VERSION",
    "FRAME_HEADER",
    "FRAME_LIMIT",
    "CHUNK",
    "STDIN_WINDOW",
    "STREAM_WINDOW",
    "RECORD_SIZE",
)
FAMILIES = {
    "REQUEST": protocol.Request,
    "REPLY": protocol.Reply,
    "RUN": protocol.Run,
    "ENDED": protocol.Ended,
    "FILE": protocol.File,
    "MANIFEST": protocol.Manifest,
    "EXECUTION": protocol.Execution,
    "OUTCOME": protocol.Outcome,
    "TOUCHED": protocol.Touched,
}

payloads = st.tuples(st.sampled_from(Reply), st.integers(0, 2**32 - 1), st.binary(max_size=300))


def test_the_header_has_the_same_numbers() -> None:
    text = (compiler.SOURCE / "protocol.h").read_text()
    found = {name: int(value) for name, value in re.findall(r"^#define (\w+) (\d+)", text, re.M)}
    expected = {name: getattr(protocol, name) for name in CONSTANTS}
    for prefix, family in FAMILIES.items():
        expected |= {f"{prefix}_{member.name}": member.value for member in family}
    assert found == expected


def test_the_document_has_the_same_numbers() -> None:
    text = (compiler.SOURCE.parents[3] / "docs" / "supervisor-protocol.md").read_text()
    rows = dict(re.findall(r"^\| (\d+) \| `(\w+)` \|", text, re.M))
    members = [*protocol.Request, *protocol.Reply]
    assert rows == {str(member.value): member.name.lower() for member in members}


@given(st.lists(payloads, max_size=8), st.data())
def test_frames_survive_any_cutting(
    frames: list[tuple[Reply, int, bytes]], data: st.DataObject
) -> None:
    stream = b"".join(
        protocol.HEADER.pack(len(payload) + 5, kind, request) + payload
        for kind, request, payload in frames
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    reader, read = FrameReader(), []
    for start, stop in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        read += list(reader.feed(stream[start:stop]))
    assert read == frames


@given(st.binary(max_size=400))
def test_garbage_is_an_error_and_nothing_else(data: bytes) -> None:
    try:
        for _, _, payload in FrameReader().feed(data):
            protocol.greeting(payload)
    except (ProtocolError, UnicodeDecodeError):
        pass


@given(st.binary(max_size=400))
def test_a_garbled_batch_is_an_error_and_nothing_else(data: bytes) -> None:
    try:
        for path, record in protocol.entries(data).items():
            protocol.entry(path, record)
    except ProtocolError:
        pass


def test_a_frame_that_is_too_large_is_not_sent() -> None:
    with pytest.raises(ValueError, match="at most"):
        protocol.frame(protocol.Request.WRITE, 1, bytes(protocol.FRAME_LIMIT))
