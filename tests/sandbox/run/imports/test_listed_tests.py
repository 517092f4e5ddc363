"""Which of a foreign task's tests tell anything here."""

from sandbox.model.grade import TestOutcome, TestReport
from sandbox.run.imports.listed_tests import Listed, sorted_out


def report(problem: str = "", **outcomes: TestOutcome) -> TestReport:
    named = {name.replace("__", "::"): outcome for name, outcome in outcomes.items()}
    return TestReport(outcomes=named, problem=problem)


def test_tests_are_sorted_by_what_they_do() -> None:
    before = report(a__new="failed", a__old="passed")
    after = report(a__new="passed", a__old="passed", a__other="passed")
    found = sorted_out(Listed(("a::new",), ("a::old",)), before, after)
    assert not found.problems
    assert not found.notes
    assert found.tests.fail_to_pass == ("a::new",)
    assert found.tests.pass_to_pass == ("a::old",)


def test_one_that_is_not_there_before_the_fix_counts_as_failing() -> None:
    found = sorted_out(Listed(("a::new",), ()), report(), report(a__new="passed"))
    assert (found.problems, found.tests.fail_to_pass) == ((), ("a::new",))


def test_ids_that_were_cut_at_a_space_stand_for_all_that_begin_so() -> None:
    ids = ("a::t[one two]", "a::t[one three]", "a::t[six]")
    after = TestReport(outcomes=dict.fromkeys(ids, "passed"))
    found = sorted_out(Listed(("a::t[one",), ("a::t[six]",)), TestReport(outcomes={}), after)
    assert found.tests.fail_to_pass == ids[:2]


def test_ids_that_are_names_of_functions_are_found() -> None:
    found = sorted_out(Listed(("new",), ()), report(), report(a__C__new="passed"))
    assert found.tests.fail_to_pass == ("a::C::new",)


def test_what_is_both_has_to_be_fixed() -> None:
    found = sorted_out(Listed(("a::new",), ("new",)), report(), report(a__new="passed"))
    assert found.tests.fail_to_pass == ("a::new",)
    assert found.tests.pass_to_pass == ()


def test_what_does_not_tell_the_fix_is_a_problem() -> None:
    listed = Listed(("a::gone", "a::red", "a::green", "a::new"), ())
    before = report(a__red="failed", a__green="passed")
    after = report(a__red="skipped", a__green="passed", a__new="passed")
    assert sorted_out(listed, before, after).problems == (
        "1 tests that have to be fixed are not there: a::gone",
        "1 tests do not pass with the fix: a::red",
        "1 tests pass without the fix: a::green",
    )


def test_an_expected_failure_proves_nothing_and_is_told() -> None:
    before = report(a__red="failed", a__marked="failed", a__old="passed")
    after = report(a__red="passed", a__marked="xfailed", a__old="xfailed")
    found = sorted_out(Listed(("a::red", "a::marked"), ("a::old",)), before, after)
    assert not found.problems
    assert (found.tests.fail_to_pass, found.tests.pass_to_pass) == (("a::red",), ())
    assert found.notes == (
        "Tests that end as expected failures are left out: a::marked",
        "1 of 1 tests that have to keep passing do not pass here and are left out: a::old",
    )
    alone = sorted_out(Listed(("a::marked",), ()), before, after)
    assert alone.problems == (
        "1 tests end as expected failures with the fix, and no other passes: a::marked",
    )


def test_what_does_not_keep_passing_is_left_out_and_told() -> None:
    listed = Listed(("a::new",), ("a::kept", "a::skipped", "a::gone", "a::broken", "a::flaky"))
    before = report(a__kept="passed", a__skipped="skipped", a__broken="passed", a__flaky="failed")
    after = report(
        a__new="passed",
        a__kept="passed",
        a__skipped="skipped",
        a__broken="failed",
        a__flaky="passed",
    )
    found = sorted_out(listed, before, after)
    assert found.tests.pass_to_pass == ("a::kept",)
    (note,) = found.notes
    assert note.startswith("4 of 5 tests that have to keep passing do not pass here")
    assert note.endswith("left out: a::gone, a::skipped, a::broken and 1 more")


def test_tests_that_do_not_run_are_a_problem() -> None:
    found = sorted_out(Listed(("a::new",), ()), report(), report("a crashed"))
    assert found.problems == ("its tests do not run: a crashed",)
    log = "x.py:3: in <module>\n    import y\nE   ModuleNotFoundError: No module named 'y'\nend\n"
    crashed = report("a crashed").model_copy(update={"log": log})
    (problem,) = sorted_out(Listed(("a::new",), ()), report(), crashed).problems
    assert problem.endswith("a crashed; ModuleNotFoundError: No module named 'y'")


def test_of_what_a_cut_id_stands_for_some_may_have_passed_before() -> None:
    before = TestReport(outcomes={"a::t[x b]": "failed", "a::t[x c]": "passed"})
    after = TestReport(outcomes={"a::t[x b]": "passed", "a::t[x c]": "passed"})
    found = sorted_out(Listed(("a::t[x",), ()), before, after)
    assert found.problems == ()
    assert found.tests.fail_to_pass == ("a::t[x b]",)
    assert found.tests.pass_to_pass == ("a::t[x c]",)


def test_a_function_stands_for_its_cases() -> None:
    found = sorted_out(Listed(("new",), ()), report(), TestReport(outcomes={"a::new[1]": "passed"}))
    assert found.tests.fail_to_pass == ("a::new[1]",)


def test_what_ended_too_early_without_the_fix_keeps_what_has_to_go_on_passing() -> None:
    before = report("the tests took too long")
    after = report(a__new="passed", a__old="passed")
    found = sorted_out(Listed(("a::new",), ("a::old",)), before, after)
    assert found.tests.pass_to_pass == ("a::old",)
    (note,) = found.notes
    assert "do not come to their end (the tests took too long)" in note
