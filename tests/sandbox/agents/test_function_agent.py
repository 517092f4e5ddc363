"""A function that acts: what it is given, and what becomes of how it ends."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import JsonValue

from sandbox.agents.function_agent import Function, FunctionAgent
from sandbox.agents.function_agent import World as Given
from sandbox.model.errors import ModelError
from sandbox.model.usage import ModelUsage
from tests.sandbox.runs import World

Fields = Mapping[str, JsonValue] | None


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "tree").mkdir()
    return World(tmp_path)


def run(world: World, function: Function, log: Path | None = None) -> None:
    world.run(FunctionAgent(function, "function", log))


def test_it_acts_and_what_it_returns_is_the_answer(world: World) -> None:
    def function(given: Given) -> Fields:
        one = given.step("run_command", {"command": "echo 1"}, usage=ModelUsage(input_tokens=3))
        two = given.step("run_command", command="echo 2")
        assert [each.result["stdout"] for each in (one, two)] == ["1\n", "2\n"]
        assert given.step("nothing").error_code == "unknown_tool"
        assert not given.over
        return {}

    run(world, function)
    assert (world.ended.reason, world.ended.turns) == ("final_answer", 4)


def test_who_returns_nothing_gave_up(world: World) -> None:
    run(world, lambda _: None)
    assert (world.ended.reason, world.ended.status) == ("agent_exited", None)
    assert world.ended.message == "The agent returned without an answer."


def test_who_raises_has_crashed_and_its_traceback_is_kept(world: World, tmp_path: Path) -> None:
    def function(given: Given) -> Fields:
        raise LookupError("no such key")

    run(world, function, tmp_path / "agent.log")
    assert (world.ended.reason, world.ended.status) == ("agent_exited", 1)
    assert world.ended.message == "The agent raised LookupError: no such key"
    assert "in function" in (tmp_path / "agent.log").read_text()


def test_an_answer_of_another_shape_is_no_answer(world: World) -> None:
    run(world, lambda _: {"unknown": 1})
    # It is what the function has to say for itself, and counts: only what it raises is a crash.
    assert (world.ended.reason, world.ended.status) == ("agent_exited", None)
    assert "other fields than it was asked for" in world.ended.message


def test_who_asks_not_to_be_counted_is_not(world: World) -> None:
    def function(given: Given) -> Fields:
        raise ModelError("There is no quota.")

    with pytest.raises(ModelError):
        run(world, function)
    assert (world.ended.reason, world.ended.message) == ("provider_error", "There is no quota.")


def test_after_the_end_every_step_is_refused(world: World) -> None:
    seen: list[Given] = []

    def function(given: Given) -> Fields:
        seen.append(given)
        given.step("final_answer", fields={})
        assert given.over
        return None

    run(world, function)
    assert seen[0].step("run_command", command="ls").error_code == "run_over"


def test_actions_are_tools_of_a_model_in_both_shapes(world: World) -> None:
    def function(given: Given) -> Fields:
        first, second = given.tools("openai"), given.tools("anthropic")
        names = [action.name for action in given.briefing.actions]
        assert [tool["name"] for tool in second] == names
        assert {tool["type"] for tool in first} == {"function"}
        for one, other in zip(first, second, strict=True):
            function = one["function"]
            assert isinstance(function, dict)
            assert function["parameters"] == other["input_schema"]
        return {}

    run(world, function)
    assert world.ended.reason == "final_answer"
