"""Plans: what does not fit together is told."""

import pytest
from pydantic import JsonValue, ValidationError

from sandbox.model.plan import Plan
from tests.sandbox.plans import plan

Changes = dict[str, JsonValue]


@pytest.mark.parametrize(
    ("segment", "way", "said"),
    [
        ({"id": "look"}, {}, "look occurs twice among segments and ways"),
        ({"to": "told"}, {}, "the state told is reached or described twice"),
        ({"to": "lost"}, {}, "the state lost is reached or described twice"),
        ({"does": [{"again": "read"}]}, {}, "segment fix: `again` is for ways"),
        ({"does": [{"label": "read", "action": "git_diff"}]}, {}, "two deeds have the label read"),
        ({"does": []}, {}, "at least 1 item"),
        ({}, {"id": "fix"}, "fix occurs twice among segments and ways"),
        ({}, {"like": "fixx"}, "way blindly: there is no segment fixx"),
        ({}, {"without": ["patch", "red"]}, "way blindly: no deed of fix has the label red"),
        ({}, {"instead": {"red": {"again": "read"}}}, "no deed of fix has the label red"),
        ({}, {"instead": {"patch": {"again": "red"}}}, "no action of the oracle has the label red"),
        ({}, {"does": [{"again": "read"}]}, "leave `does` out, or `like`"),
        ({}, {"like": None, "without": ["patch"]}, "`without` and `instead` go with `like`"),
        (
            {},
            {"like": None, "does": [{"label": "x", "action": "git_diff"}]},
            "only deeds of segments have labels",
        ),
        (
            {},
            {"like": None, "does": [{"again": "happened"}]},
            "no action of the oracle has the label happened",
        ),
    ],
)
def test_what_does_not_fit_is_refused(segment: Changes, way: Changes, said: str) -> None:
    with pytest.raises(ValidationError, match="(?s)" + said):
        plan(segment, way)


@pytest.mark.parametrize(
    ("deed", "said"),
    [
        ({}, "give one of"),
        ({"action": "git_diff", "again": "read"}, "give one of"),
        ({"event": "committed", "result": {"exit_code": 0}}, "an event has `arguments`"),
        ({"event": "committed", "files": {"hooked": "a"}}, "an event has `arguments`"),
        ({"again": "read", "arguments": {"path": "a"}}, "takes label and arguments of the oracle"),
        (
            {"action": "apply_patch", "arguments": {"patch": "x"}, "files": {"patch": "a"}},
            "patch stands in `arguments` and in `files`",
        ),
    ],
)
def test_a_deed_is_one_thing(deed: Changes, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        plan({"does": [deed]}, {})


def test_a_plan_without_an_action_is_none() -> None:
    segment = {"id": "x", "to": "y", "does": [{"event": "committed"}]}
    with pytest.raises(ValidationError, match="the segments hold no action"):
        Plan.model_validate({"start": "a", "segments": [segment]}, strict=False)
