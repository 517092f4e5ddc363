"""Each action is a method, with the arguments that it has."""

import inspect
from collections.abc import Mapping

import pytest
from pydantic import JsonValue

from sandbox.agents.typed_actions import TypedActions
from sandbox.model.action import ACTIONS, FinalAnswer
from sandbox.model.usage import ModelUsage

NAMES = sorted(ACTIONS.keys() - {FinalAnswer.name})
VALUES: dict[str, JsonValue] = {
    "arguments": {"x": 1},
    "timeout_seconds": 2.5,
    "first_line": 3,
    "line_limit": 4,
    "recursive": True,
    "fixed": True,
    "ignore_case": True,
    "executable": False,
    "encoding": "base64",
}


class Said(TypedActions[tuple[str, dict[str, JsonValue]]]):
    """Gives back what would be asked for."""

    def step(
        self,
        action: str,
        arguments: Mapping[str, JsonValue] | None = None,
        /,
        usage: ModelUsage | None = None,
        **named: JsonValue,
    ) -> tuple[str, dict[str, JsonValue]]:
        assert usage is None
        return action, {**(arguments or {}), **named}


@pytest.mark.parametrize("name", NAMES)
def test_a_method_has_the_actions_arguments_and_defaults(name: str) -> None:
    action = ACTIONS[name]
    parameters = dict(inspect.signature(getattr(Said(), name)).parameters)
    assert list(parameters) == list(action.model_fields)
    for field, known in action.model_fields.items():
        empty = known.is_required()
        assert (parameters[field].default is inspect.Parameter.empty) == empty, field
    whole = {field: VALUES.get(field, "text") for field in action.model_fields}
    assert getattr(Said(), name)(**whole) == (name, whole)
    assert action.model_validate(whole).model_dump(mode="json") == whole


@pytest.mark.parametrize("name", NAMES)
def test_what_is_left_out_is_as_the_action_has_it(name: str) -> None:
    needed = {
        field: VALUES.get(field, "text")
        for field, known in ACTIONS[name].model_fields.items()
        if known.is_required()
    }
    said, arguments = getattr(Said(), name)(**needed)
    assert said == name
    assert ACTIONS[name].model_validate(arguments) == ACTIONS[name].model_validate(needed)


def test_nothing_else_is_a_method() -> None:
    methods = {name for name in vars(TypedActions) if not name.startswith("_")}
    assert methods == {*NAMES, "step"}
