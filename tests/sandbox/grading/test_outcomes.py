import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.grading.frameworks.base import exit_status
from sandbox.grading.outcomes import Forged, Stopped, read

CANARY = "tests/test_a.py::test_x"
TEST = "tests/test_a.py::test_a"
CANARIES = frozenset({CANARY})
ONE = exit_status(1)

OUTCOMES = ["passed", "failed", "error", "skipped", "xfailed", "xpassed"]


def line(test: str, outcome: str = "passed") -> dict[str, object]:
    return {"test": test, "outcome": outcome}


CAUGHT = line(CANARY, "failed")
END: dict[str, object] = {"end": 2}


def lines(*parts: dict[str, object]) -> bytes:
    return b"".join(json.dumps(part).encode() + b"\n" for part in parts)


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_each_test_has_the_outcome_that_was_told(outcome: str) -> None:
    status = exit_status(1 + (outcome in ("failed", "error")))
    assert read(lines(line(TEST, outcome), CAUGHT, END), status, CANARIES) == {TEST: outcome}


@pytest.mark.parametrize(
    "data",
    [
        lines(line(TEST), line(TEST), CAUGHT, {"end": 3}),
        lines(line(TEST), CAUGHT, {"end": 3}),
        lines(line(TEST), {"junk": 1}, CAUGHT, END),
        lines({"end": 0}, line(TEST), CAUGHT, END),
        lines({**line(TEST), "outcome": "PASSED"}, CAUGHT, END),
        lines(line(TEST), CAUGHT, {**END, "more": 1}),
        b"\xff\n",
        b"[" * 100_000 + b"\n",
    ],
)
def test_lines_that_the_runner_does_not_write_are_forged(data: bytes) -> None:
    with pytest.raises(Forged):
        read(data, ONE, CANARIES)


@pytest.mark.parametrize("outcome", ["passed", "skipped", "xfailed", "xpassed"])
def test_a_canary_that_does_not_fail_is_forged(outcome: str) -> None:
    data = lines(line(TEST, "failed"), line(CANARY, outcome), END)
    with pytest.raises(Forged, match="has to fail"):
        read(data, ONE, CANARIES)


@pytest.mark.parametrize("status", [None, 0, 1, exit_status(0), exit_status(2)])
def test_an_exit_status_that_tells_something_else_is_forged(status: int | None) -> None:
    with pytest.raises(Forged, match="denies"):
        read(lines(line(TEST), CAUGHT, END), status, CANARIES)


@pytest.mark.parametrize("status", [None, 0, 3, ONE])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"half a line",
        lines(line(TEST)),
        lines(line(TEST), CAUGHT),
        lines(line(TEST), CAUGHT, END)[:-1],
    ],
)
def test_a_runner_that_did_not_come_to_its_end_is_told(data: bytes, status: int | None) -> None:
    with pytest.raises(Stopped, match="did not come to its end"):
        read(data, status, CANARIES)


def test_a_canary_that_did_not_run_is_told() -> None:
    with pytest.raises(Stopped, match="not all"):
        read(lines(line(TEST), {"end": 1}), exit_status(0), CANARIES)


@given(st.binary(max_size=300), st.integers(0, 255) | st.none())
def test_no_other_bytes_give_outcomes(data: bytes, status: int | None) -> None:
    with pytest.raises((Forged, Stopped)):
        read(data, status, CANARIES)
