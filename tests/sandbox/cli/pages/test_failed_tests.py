"""What is said of failed tests: the whole line where pytest has cut it, and of the right test."""

from sandbox.cli.pages.failed_tests import assertions
from tests.sandbox.cli.pages.stored import LOG

ONE, TWO = "tests/test_a.py::test_one", "tests/test_a.py::test_two"


def test_pytest_tells_where_and_why_in_full() -> None:
    found = assertions(LOG, [ONE, TWO, "tests/test_a.py::test_three"])
    assert found == {
        ONE: "/repo/tests/test_a.py:13: assert '1' == '1,3'",
        TWO: "/repo/tests/test_a.py:20: AssertionError: something long that the summary cuts off",
    }


def test_a_log_that_lost_its_beginning_gives_no_test_the_words_of_another() -> None:
    cut = LOG[LOG.index("/repo/tests/test_a.py:20") :]
    assert assertions(cut, [ONE, TWO]) == {
        ONE: "assert '1'...",
        TWO: "/repo/tests/test_a.py:20: AssertionError: something long that the summary cuts off",
    }
    without = LOG[LOG.index("=== short") :]
    assert assertions(without, [TWO]) == {TWO: "AssertionError: something lo..."}


def test_of_another_runner_the_lines_that_name_the_test_are_shown() -> None:
    log = "ok 1 - fine\n  not ok 2 - keeps a guard\n"
    assert assertions(log, ["keeps a guard"]) == {"keeps a guard": "not ok 2 - keeps a guard"}
