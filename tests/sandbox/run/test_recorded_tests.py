"""Ids of tests, sorted by what they give before and after the oracle's change."""

from sandbox.model.grade import TestOutcome, TestReport
from sandbox.run.recorded_tests import sorted_out


def report(**outcomes: TestOutcome) -> TestReport:
    return TestReport(outcomes=outcomes)


BEFORE = report(a="failed", b="passed", d="passed", e="error", gone="passed")
AFTER = report(a="passed", b="passed", c="passed", d="failed", e="passed")


def test_what_did_not_pass_before_and_does_now_tells_the_defect() -> None:
    """A test that did not even run before, too: its file may not have loaded."""
    found = sorted_out((), BEFORE, AFTER)
    assert found.tests.fail_to_pass == ("a", "c", "e")
    assert found.tests.pass_to_pass == ("b",)


def test_what_does_not_pass_with_the_change_is_left_out() -> None:
    assert sorted_out((), BEFORE, AFTER).left_out == ("d",)


def test_what_is_listed_keeps_its_place_and_what_is_gone_goes() -> None:
    found = sorted_out(("gone", "e", "a"), BEFORE, AFTER)
    assert found.tests.fail_to_pass == ("e", "a", "c")
    assert "gone" not in found.tests.pass_to_pass
