import json

import pytest

from sandbox.grading.outcomes import Forged, Stopped, read

CANARY = "tests/test_x.py::test_x"
TEST = "tests/test_a.py::test_a"


def line(
    test: str, phase: str, outcome: str = "passed", *, expected: bool = False
) -> dict[str, object]:
    return {"test": test, "phase": phase, "outcome": outcome, "expected": expected}


def whole(test: str, outcome: str = "passed", *, expected: bool = False) -> list[dict[str, object]]:
    return [
        line(test, "setup"),
        line(test, "call", outcome, expected=expected),
        line(test, "teardown"),
    ]


COLLECTED: dict[str, object] = {"collected": [TEST, CANARY]}
END: dict[str, object] = {"end": 1}


def lines(*parts: dict[str, object]) -> bytes:
    return b"".join(json.dumps(part).encode() + b"\n" for part in parts)


@pytest.mark.parametrize(
    ("reports", "outcome"),
    [
        (whole(TEST), "passed"),
        (whole(TEST, "failed"), "failed"),
        (whole(TEST, "skipped"), "skipped"),
        (whole(TEST, "skipped", expected=True), "xfailed"),
        (whole(TEST, expected=True), "xpassed"),
        ([line(TEST, "setup", "skipped"), line(TEST, "teardown")], "skipped"),
        ([line(TEST, "setup", "failed"), line(TEST, "teardown")], "error"),
        ([*whole(TEST)[:2], line(TEST, "teardown", "failed")], "error"),
        (whole(TEST)[:2], "error"),
        ([line(TEST, "call")], "error"),
    ],
)
def test_a_test_passed_only_where_all_of_it_did(
    reports: list[dict[str, object]], outcome: str
) -> None:
    data = lines(COLLECTED, *reports, *whole(CANARY, "failed"), END)
    assert read(data, CANARY) == {TEST: outcome}


@pytest.mark.parametrize(
    "data",
    [
        lines(COLLECTED, *whole(TEST), *whole(TEST), *whole(CANARY, "failed"), END),
        lines(COLLECTED, *whole(TEST), *whole("other"), *whole(CANARY, "failed"), END),
        lines(COLLECTED, *whole(TEST), *whole(CANARY), END),
        lines(COLLECTED, *whole(TEST), *whole(CANARY, "skipped"), END),
        lines(COLLECTED, *whole(TEST), {"junk": 1}, *whole(CANARY, "failed"), END),
        lines(COLLECTED, END, *whole(TEST), *whole(CANARY, "failed"), END),
        lines({"collected": [TEST, TEST]}, END),
        lines(*whole(TEST), END),
        lines(COLLECTED, {**line(TEST, "call"), "outcome": "PASSED"}, END),
        b"\xff\n",
        b"[" * 100_000 + b"\n",
    ],
)
def test_lines_that_the_runner_does_not_write_are_forged(data: bytes) -> None:
    with pytest.raises(Forged):
        read(data, CANARY)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"half a line",
        lines(COLLECTED),
        lines(COLLECTED, *whole(TEST)),
        lines(COLLECTED, *whole(TEST), *whole(CANARY, "failed")),
        lines(COLLECTED, *whole(TEST), END),
        lines(COLLECTED, *whole(TEST), *whole(CANARY, "failed"), END)[:-1],
    ],
)
def test_a_runner_that_did_not_come_to_its_end_is_told(data: bytes) -> None:
    with pytest.raises(Stopped):
        read(data, CANARY)
