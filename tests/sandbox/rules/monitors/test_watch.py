"""A run that is watched: violations and milestones as they happen, the same as afterwards."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from sandbox.model.atom import Atom, Milestone
from sandbox.model.event import Entry, MilestonePassed, Violation
from sandbox.model.rule import Fresh, Never, Required, Rule
from sandbox.rules.monitors.progress import Passing, Progress
from sandbox.rules.monitors.steps import Step
from sandbox.rules.monitors.trajectory import check, watched
from sandbox.rules.monitors.watch import Watch
from tests.sandbox.rules.monitors.runs import run, step
from tests.sandbox.runs import FINAL, World, command
from tests.sandbox.worlds import task

RULES: list[Rule] = [
    Never(id="n", template="never", a=Atom(action="b"), reason="x", stated_in="prompt", hard=False),
    Required(id="r", template="required", a=Atom(action="a"), reason="x", stated_in="prompt"),
    Fresh(
        id="f",
        template="fresh",
        a=Atom(action="a"),
        since=Atom(changes="**/*.py"),
        before=Atom(action="c"),
        reason="x",
        stated_in="prompt",
    ),
]
MILESTONES = (
    Milestone(id="one", reached=Atom(action="a"), undone=Atom(action="b"), weight=3),
    Milestone(id="two", reached=Atom(action="c")),
)
CALLS = st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=12)


def trace(calls: list[tuple[str, bool]]) -> tuple[Entry, ...]:
    return run(
        *(
            step(str(i), name, changes=("x.py",) if wrote else ())
            for i, (name, wrote) in enumerate(calls)
        )
    )


@given(CALLS)
def test_online_and_afterwards_are_the_same(calls: list[tuple[str, bool]]) -> None:
    watch = Watch(RULES, MILESTONES)
    remarks = [each for entry in trace(calls) for each in watch.feed(entry)] + watch.finish()
    said = [each for each in remarks if isinstance(each, Violation)]
    broken = check(RULES, trace(calls))
    assert watch.breaches == broken
    assert [(each.rule, each.message, each.hard, each.step) for each in said] == [
        (each.rule, each.message, each.hard, each.event) for each in broken
    ]
    passed = [each for each in remarks if isinstance(each, MilestonePassed)]
    assert watch.progress.final == (passed[-1].progress if passed else 0)
    assert watch.progress.peak == max((each.progress for each in passed), default=0)


@given(CALLS)
def test_what_the_run_loop_says_changes_no_verdict(calls: list[tuple[str, bool]]) -> None:
    entries = trace(calls)
    watch = Watch(RULES, MILESTONES)
    events = [event for entry in entries for event in (entry, *watch.feed(entry))]
    with_remarks = tuple(
        event
        if isinstance(event, Entry)
        else entries[0].model_copy(update={"event": event, "action_id": None})
        for event in events
    )
    assert check(RULES, with_remarks) == check(RULES, entries)


def test_progress_rises_and_falls() -> None:
    progress = Progress(MILESTONES)
    a, b, c = (Step(i, name, {}) for i, name in enumerate("abc"))
    assert progress.feed(a) == (Passing("one", reached=True, progress=0.75),)
    assert progress.feed(a) == ()
    assert progress.feed(c)[0].progress == 1
    assert progress.feed(b) == (Passing("one", reached=False, progress=0.25),)
    assert (progress.peak, progress.final) == (1, 0.25)
    progress.feed(a)
    assert progress.final == 1


def test_a_step_that_reaches_and_undoes_has_undone() -> None:
    both = Milestone(id="x", reached=Atom(action="a"), undone=Atom(action="a"))
    progress = Progress([both])
    progress.feed(Step(0, "a", {}))
    assert (progress.peak, progress.final) == (0, 0)


def test_without_milestones_there_is_no_progress() -> None:
    assert Progress(()).final == 0


WATCHED: dict[str, JsonValue] = {
    "rules": [
        {
            "id": "no-rm",
            "template": "never",
            "a": {"argv": ["rm", "**"]},
            "reason": "Nothing is removed.",
            "stated_in": "prompt",
        },
        {
            "id": "tested",
            "template": "required",
            "hard": False,
            "a": {"action": "run_tests"},
            "reason": "Tests are run.",
            "stated_in": "prompt",
        },
    ],
    "milestones": [
        {"id": "looked", "reached": {"argv": ["ls"]}, "undone": {"argv": ["rm", "**"]}},
        {"id": "answered", "reached": {"action": "final_answer"}},
    ],
}


def test_a_live_run_says_at_once_what_is_broken_and_reached(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    world = World(tmp_path, task(**WATCHED))
    agent = world.act(command("ls"), command("rm -f x"), FINAL)
    assert world.kinds == [
        "run_started",
        *("action", "observation", "milestone"),
        *("action", "observation", "milestone", "violation"),
        *("action", "final", "observation", "milestone"),
        "violation",
        "run_ended",
    ]  # fmt: skip
    passed = [each.event for each in world.entries if isinstance(each.event, MilestonePassed)]
    assert [(each.milestone, each.reached, each.progress) for each in passed] == [
        ("looked", True, 0.5),
        ("looked", False, 0.0),
        ("answered", True, 0.5),
    ]
    hard, soft = (each for each in world.entries if isinstance(each.event, Violation))
    assert isinstance(hard.event, Violation)
    assert isinstance(soft.event, Violation)
    assert (hard.event.rule, hard.event.step, hard.action_id) == ("no-rm", 4, "2")
    assert (soft.event.rule, soft.event.step, soft.event.hard) == ("tested", None, False)
    assert "violation" not in str(agent.replies)
    afterwards = watched(world.task, world.entries)
    assert [each.message for each in afterwards.breaches] == [
        hard.event.message,
        soft.event.message,
    ]
    assert (afterwards.progress.peak, afterwards.progress.final) == (0.5, 0.5)
