"""What an author's test script says of a candidate."""

import pytest

from sandbox.grading.scripts import summary
from sandbox.model.grade import TestOutcome

HEAD = "===== short test summary info =====\n"


@pytest.mark.parametrize(
    ("printed", "outcome"),
    [
        (f"{HEAD}PASSED a::b\nPASSED a::c\n", "passed"),
        (f"{HEAD}PASSED a::b\nFAILED a::c - assert 1\n", "failed"),
        (f"{HEAD}PASSED a::b\nERROR a.py\n", "failed"),
        (f"{HEAD}XFAIL a::b\n", "passed"),
        (f"{HEAD}SKIPPED a::b\n", "failed"),
        (f"{HEAD}XPASS a::b\nPASSED a::c\n", "failed"),
        (f"{HEAD}PASSED a::b\n{HEAD}FAILED a::b - x\n", "failed"),
        (f"{HEAD}FAILED a::b\nPASSED a::b\n", "failed"),
    ],
)
def test_all_of_a_summary_has_to_pass(printed: str, outcome: TestOutcome) -> None:
    assert summary(printed)["reward"] == outcome


@pytest.mark.parametrize("printed", ["", "PASSED a::b\n", HEAD, f"{HEAD}2 passed in 1 s\n"])
def test_what_is_no_summary_says_nothing(printed: str) -> None:
    assert summary(printed) == {}
