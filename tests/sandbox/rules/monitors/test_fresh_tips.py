"""`fresh` since a commit asks where the branch is, not when it came there."""

import pytest
from pydantic import JsonValue

from sandbox.model.atom import Atom
from sandbox.model.rule import Fresh
from sandbox.rules.monitors.base import Monitor
from sandbox.rules.monitors.steps import Step

RULE = Fresh(
    id="closed-last",
    template="fresh",
    a=Atom(action="call_tool"),
    since=Atom(kind="committed"),
    before=Atom(action="final_answer"),
    reason="x",
    stated_in="prompt",
)
CLOSED, END = Step(1, "call_tool", {}), Step(2, "final_answer", {})


def moved(tip: str | None = None, ref: str = "refs/heads/main") -> Step:
    fields: dict[str, JsonValue] = {"ref": ref} if tip is None else {"ref": ref, "tip": tip}
    return Step(3, "ref_moved", fields, kind="ref_moved")


def committed(name: str) -> tuple[Step, Step]:
    return moved(name), Step(4, "committed", {"id": name}, kind="committed")


ASIDE = (moved(), Step(4, "committed", {"id": "aside"}, kind="committed"))


@pytest.mark.parametrize(
    ("steps", "holds"),
    [
        ((*committed("a"), CLOSED, END), True),
        ((CLOSED, *committed("a"), END), False),
        ((*committed("a"), moved("0"), *committed("b"), CLOSED, moved("a"), END), False),
        ((*committed("a"), moved("0"), CLOSED, moved("a"), END), False),
        ((*committed("a"), CLOSED, moved("0"), moved("a"), END), True),
        ((*committed("a"), CLOSED, *committed("b"), moved("a"), END), True),
        ((*committed("a"), CLOSED, moved(ref="refs/tags/x"), END), True),
        ((*committed("a"), CLOSED, *ASIDE, END), False),
        ((*committed("a"), CLOSED, *ASIDE, CLOSED, END), True),
    ],
)
def test_what_is_delivered_is_what_was_covered(steps: tuple[Step, ...], holds: bool) -> None:
    monitor = Monitor(RULE)
    heeded = [step for step in steps if monitor.heeding(step) or monitor.follows(step)]
    assert any(monitor.feed(step) for step in heeded) is not holds


def test_a_rule_about_some_commits_alone_goes_by_their_order() -> None:
    since = Atom(kind="committed", arguments={"ref": "main"})
    monitor = Monitor(RULE.model_copy(update={"since": since}))
    steps = (*committed("a"), CLOSED, moved("0"), END)
    assert not any(monitor.feed(step) for step in steps)
