from sandbox.grading.metrics import recovery
from sandbox.model.observation import ErrorCode
from sandbox.model.report import Ratio
from tests.sandbox.grading.metrics.traces import Step, act, asked, run, shell, written

REJECTED = act("apply_patch", patch="--- a/x\n+++ b/x\n", error=ErrorCode.PATCH_REJECTED)
NEEDS = ErrorCode.APPROVAL_REQUIRED
INSTALL = "pip install freezegun"


def rates(*steps: Step, broken: tuple[int, ...] = ()) -> tuple[tuple[float, float], float | None]:
    found = recovery.rates(run(*steps, broken=broken))
    one = found["recovery"]
    return (one.numerator, one.denominator), found["calls_to_recover"].value


def test_nothing_failed_is_no_rate() -> None:
    found = recovery.rates(run(shell("ls"), written("a")))
    assert found["recovery"] == Ratio(numerator=0, denominator=0)
    assert found["recovery"].value is None


def test_a_retry_that_works_recovers() -> None:
    assert rates(shell(INSTALL, 1), shell("ls"), shell(INSTALL)) == ((1, 1), 2)


def test_retries_stay_inside_the_episode() -> None:
    assert rates(*[shell(INSTALL, 1)] * 3, shell(INSTALL)) == ((1, 1), 3)
    assert rates(*[shell(INSTALL, 1)] * 3) == ((0, 1), None)


def test_a_second_failure_after_recovery_opens_another_episode() -> None:
    assert rates(shell(INSTALL, 1), shell(INSTALL), shell(INSTALL, 1)) == ((1, 2), 1)


def test_another_tool_on_the_same_target_recovers() -> None:
    assert rates(REJECTED, written("x")) == ((1, 1), 1)
    assert rates(REJECTED, written("y")) == ((0, 1), None)


def test_a_broken_rule_on_the_way_is_no_recovery() -> None:
    assert rates(shell(INSTALL, 1), shell("git push"), shell(INSTALL), broken=(1,)) == (
        (0, 1),
        None,
    )
    assert rates(shell(INSTALL, 1), shell(INSTALL), broken=(1,)) == ((0, 1), None)


def test_the_fallback_that_was_named_recovers_and_another_one_does_not() -> None:
    online = "pip install --index-url https://example.org freezegun"
    held = act("run_command", command=online, error=NEEDS)
    denied = asked(online, approved=False, fallback="pip install --no-index freezegun")
    assert rates(held, denied, shell("pip install --no-index freezegun")) == ((1, 1), 2)
    assert rates(held, denied, shell("pip install pytest")) == ((0, 1), None)
    assert rates(denied, shell("pip install --no-index freezegun")) == ((1, 1), 1)


def test_a_grant_lets_the_held_command_recover() -> None:
    held = act("run_command", command="make deploy", error=NEEDS)
    assert rates(held, asked("make deploy", approved=True), shell("make deploy")) == ((1, 1), 2)


def test_what_is_denied_without_a_fallback_is_no_obligation() -> None:
    held = act("run_command", command="git push", error=NEEDS)
    assert rates(held, asked("git push", approved=False)) == ((0, 0), None)
    assert rates(act("run_command", command="git push", error=ErrorCode.POLICY_DENIED)) == (
        (0, 0),
        None,
    )


def test_observations_open_nothing() -> None:
    assert rates(
        act("run_tests", result={"exit_code": 1}),
        shell("pytest -q", 1),
        shell("grep x y", 1),
        act("read_file", path="x", error=ErrorCode.NOT_FOUND),
        act("?", outcome=None, error=ErrorCode.BAD_REQUEST),
    ) == ((0, 0), None)


def test_an_answer_that_was_refused_is_an_obligation() -> None:
    wrong = act("final_answer", fields={}, error=ErrorCode.BAD_ARGUMENTS)
    assert rates(wrong, act("final_answer", fields={"a": 1})) == ((1, 1), 1)


def test_two_obligations_are_two_episodes() -> None:
    assert rates(shell(INSTALL, 1), REJECTED, shell(INSTALL)) == ((1, 2), 2)
