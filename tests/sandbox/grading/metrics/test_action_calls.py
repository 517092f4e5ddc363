from hypothesis import given
from hypothesis import strategies as st

from sandbox.grading.metrics.action_calls import signature
from sandbox.model.event import ActionTaken, MilestonePassed
from sandbox.model.observation import ErrorCode
from tests.sandbox.grading.metrics.traces import act, asked, entries, run, shell, written


def test_an_action_is_joined_with_its_result_by_id() -> None:
    one, other = act("read_file", path="a", result={"content": "1"}), act("git_diff")
    calls = run(one, other)
    assert [call.name for call in calls] == ["read_file", "git_diff"]
    assert calls[0].observation is not None
    assert calls[0].observation.result == {"content": "1"}


def test_a_call_that_was_never_answered_is_a_step() -> None:
    (call,) = run([ActionTaken(name="git_diff", arguments={})])
    assert call.observation is None
    assert not call.succeeded


def test_a_milestone_belongs_to_the_step_that_reached_it() -> None:
    passed = MilestonePassed(milestone="m", reached=True, progress=1.0)
    undone = MilestonePassed(milestone="m", reached=False, progress=0.0)
    first, second = run([*written("a"), passed], [*written("b"), undone])
    assert first.milestone
    assert not second.milestone


def test_spelling_does_not_make_another_call() -> None:
    assert signature("read_file", {"path": "./a//b"}) == signature(
        "read_file", {"path": "a/b", "first_line": 1, "line_limit": None}
    )
    assert signature("read_file", {"path": "a"}) != signature("read_file", {"path": "b"})
    first, second = run(act("run_tests"), act("run_tests", command="pytest"), test_command="pytest")
    assert first.signature == second.signature


def test_arguments_that_are_wrong_are_spelt_as_they_are() -> None:
    assert "nonsense" in signature("read_file", {"nonsense": 1})


def test_reads_and_failures_leave_the_state_as_it_is() -> None:
    states = [
        call.state
        for call in run(
            act("read_file", path="a"),
            shell("ls"),
            shell("pip install x", 1),
            act("run_tests", command="pytest", result={"exit_code": 1}),
            asked("pip install x", approved=False),
            act("git_diff"),
        )
    ]
    assert len(set(states)) == 1


def test_edits_commands_that_write_and_grants_change_the_state() -> None:
    steps = (written("a"), shell("pip install x"), asked("x", approved=True), act("git_diff"))
    assert len({call.state for call in run(*steps)}) == 4


@given(st.lists(st.sampled_from("abc"), max_size=8))
def test_the_state_tells_what_was_done(names: list[str]) -> None:
    steps = [written(name) for name in names]
    states = [call.state for call in run(*steps)]
    assert len(set(states)) == len(states)
    assert states == [call.state for call in run(*steps)]


def test_a_patch_names_its_files() -> None:
    patch = "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1 @@\n a\n--- comment\n"
    (call,) = run(act("apply_patch", patch=patch, error=ErrorCode.POLICY_DENIED))
    assert call.proposed == ("x.sql",)
    renamed = "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"
    (call,) = run(act("apply_patch", patch=renamed, writes=("x", "y")))
    assert call.proposed == ("x", "y")


def test_entries_of_no_call_are_passed_over() -> None:
    assert entries() == []
    assert run() == []
