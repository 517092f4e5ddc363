"""Each reason for the end of a run has a word that runs are sorted by."""

from typing import get_args

import pytest

from sandbox.model.event import EndReason, RunEnded
from sandbox.model.how import How
from sandbox.model.how_ended import how_ended


def ended(reason: EndReason, status: int | None = None) -> RunEnded:
    return RunEnded(reason=reason, status=status, turns=1, seconds=1.0)


@pytest.mark.parametrize(
    ("status", "how"), [(None, "gave_up"), (0, "gave_up"), (1, "crashed"), (-9, "crashed")]
)
def test_who_leaves_without_an_answer_gave_up_or_crashed(status: int | None, how: How) -> None:
    assert how_ended(ended("agent_exited", status)) == how


def test_every_reason_has_a_word() -> None:
    words = {how_ended(ended(reason)) for reason in get_args(EndReason)}
    assert words | {"crashed"} == set(get_args(How))
