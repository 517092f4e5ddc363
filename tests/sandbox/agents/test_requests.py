"""Lines of an agent: each is a request, or is refused with what is wrong; none takes much."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.agents.base import Garbage
from sandbox.agents.line_buffer import Lines
from sandbox.agents.requests import parse
from sandbox.model.action import Request

GOOD = b'{"id": "1", "action": "read_file", "arguments": {"path": "a"}}'


@pytest.mark.parametrize(
    ("line", "problem", "identifier"),
    [
        (b"hello", "not JSON: Expecting value, at character 1", None),
        (b"\xff\xfe", "not UTF-8: byte 1", None),
        (b'{"id": "a\0"}', "not JSON: Invalid control character", None),
        (b"[]", "JSON, but not an object", None),
        (b'{"id": "7"}', "action: Field required", "7"),
        (b'{"action": "x"}', "id: Field required", None),
        (b'{"id": 7, "action": "x"}', "id: Input should be a valid string", None),
        (b'{"id": "7", "action": "x", "argument": {}}', "argument: Extra inputs", "7"),
        (b'{"id": "7", "action": "x", "arguments": []}', "arguments: Input should be", "7"),
        (b'{"id": "", "action": "x"}', "id: String should have at least 1", None),
        (b'{"id": "%s", "action": "x"}' % (b"a" * 201), "at most 200", None),
        (b'{"id": "7", "action": "x", "arguments": {"a": NaN}}', "NaN is not a valid number", None),
        (b'{"id": "7", "action": "x", "arguments": {"a": 1e999}}', "too large", None),
        (b'{"id": "7", "action": "x", "arguments": {"a": %s}}' % (b"9" * 9999), "64 bits", None),
        (b'{"id": "7", "action": "x", "arguments": {"a": "\\ud800"}}', "surrogate", None),
        (b"[" * 100_000, "nested too deeply", None),
        (b'{"id": "7", "action": "x", "arguments": {"a": %s}}' % (b"[" * 400 + b"]" * 400),
         "nested too deeply", None),
        (b'{"id": "7", "action": "x", "arguments": {"a": %s}}' % (b"[" * 70 + b"]" * 70),
         "nested too deeply", None),
    ],
)  # fmt: skip
def test_garbage_is_named(line: bytes, problem: str, identifier: str | None) -> None:
    found = parse(line)
    assert isinstance(found, Garbage)
    assert problem in found.problem
    assert "Send one line" in found.problem
    assert found.id == identifier
    assert len(found.excerpt) <= 200
    assert len(found.problem) < 500


def test_a_request_is_read() -> None:
    assert parse(GOOD) == Request(id="1", action="read_file", arguments={"path": "a"})
    assert isinstance(parse(b'{"id": "1", "action": "x", "arguments": {"a": "\\ud83d\\ude00"}}'),
                      Request)  # fmt: skip


@settings(deadline=None)
@given(st.binary())
def test_no_line_raises(line: bytes) -> None:
    parse(line)


@settings(deadline=None)
@given(st.lists(st.sampled_from([GOOD, b"", b"  \r", b"x", b"y" * 90]), max_size=6), st.data())
def test_lines_do_not_depend_on_how_they_arrive(parts: list[bytes], data: st.DataObject) -> None:
    stream = b"\n".join(parts)
    lines = Lines(limit=80)
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        lines.feed(stream[:size])
        stream = stream[size:]
    lines.feed(b"")
    kinds = [type(found) for found in lines.ready]
    assert kinds == [Request if part == GOOD else Garbage for part in parts if part.strip()]


def test_a_line_beyond_the_limit_is_counted_and_not_kept() -> None:
    lines = Lines(limit=1000)
    for _ in range(100):
        lines.feed(b"x" * 500)
    lines.feed(b"\n" + GOOD + b"\n")
    first, second = lines.ready
    assert isinstance(first, Garbage)
    assert "50000 bytes; 1000 are allowed" in first.problem
    assert second == parse(GOOD)


def test_requests_of_the_documentation_are_read() -> None:
    line = {"id": "x", "action": "git_diff"}
    assert parse(json.dumps(line).encode() + b"\r") == Request(id="x", action="git_diff")
