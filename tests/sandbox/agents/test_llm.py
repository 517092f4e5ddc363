"""The built-in agent against a scripted endpoint: what it sends, and what a fault makes of it."""

from pathlib import Path

import pytest
from pydantic import JsonValue

from sandbox.agents.llm import FULL, LEFT_OUT, LlmAgent
from sandbox.agents.llm_endpoint import ATTEMPTS, Model
from sandbox.model.errors import ModelError
from sandbox.model.event import ActionTaken
from sandbox.model.usage import Price
from tests.sandbox.agents.chat_server import ChatServer, Fault, Step, error, says
from tests.sandbox.runs import World
from tests.sandbox.worlds import task

FINAL: tuple[str, JsonValue] = ("final_answer", {"fields": {}})
LOOK: tuple[str, JsonValue] = ("list_files", {})
PRICE = Price(input=3, output=15, cached=0.5)


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "tree").mkdir()
    return World(tmp_path)


def agent(server: ChatServer, world: World) -> LlmAgent:
    model = Model("m", "secret", server.url, PRICE)
    return LlmAgent(model, world.folder / "agent.log", first_wait=0.001)


def converse(world: World, *steps: Step) -> ChatServer:
    """Run against a script, to the end."""
    with ChatServer(*steps) as server:
        world.run(agent(server, world))
        return server


def test_it_tells_the_model_what_came_of_its_calls(world: World) -> None:
    server = converse(
        world,
        says(("run_command", {"command": "echo hello"}), text="I look around."),
        says(FINAL),
    )
    assert world.codes == ["ok", "ok"]
    assert world.ended.reason == "final_answer"
    first, second = server.requests
    assert [message["role"] for message in first["messages"]] == ["system", "user"]
    assert str(world.root) in first["messages"][0]["content"]
    assert "Do it." in first["messages"][1]["content"]
    said, told = second["messages"][2:]
    assert said["content"] == "I look around."
    assert (told["role"], told["tool_call_id"]) == ("tool", "call_0")
    assert '"stdout":"hello\\n"' in told["content"]
    assert server.keys == {"Bearer secret"}
    assert (world.folder / "agent.log").read_text() == "I look around.\n"


def test_tools_are_the_actions_and_the_answer_has_the_tasks_fields(world: World) -> None:
    world.task = task(final={"count": {"type": "integer"}, "names": {"type": "list"}})
    server = converse(world, says(("final_answer", {"fields": {"count": 1, "names": []}})))
    tools = {each["function"]["name"]: each["function"] for each in server.requests[0]["tools"]}
    assert "run_command" in tools
    assert tools["read_file"]["parameters"]["required"] == ["path"]
    fields = tools["final_answer"]["parameters"]["properties"]["fields"]
    assert fields["properties"] == {
        "count": {"type": "integer"},
        "names": {"type": "array", "items": {}},
    }
    assert fields["required"] == ["count", "names"]
    assert world.ended.reason == "final_answer"


def test_tokens_and_cost_are_recorded_once_for_each_answer(world: World) -> None:
    converse(world, says(LOOK, LOOK), says(FINAL))
    taken = [entry.event for entry in world.entries if isinstance(entry.event, ActionTaken)]
    first, second, third = (event.usage for event in taken)
    assert first is not None
    assert (first.input_tokens, first.cached_tokens, first.output_tokens) == (100, 40, 10)
    assert first.cost == pytest.approx((60 * 3 + 40 * 0.5 + 10 * 15) / 1e6)
    assert second is None
    assert third == first


def test_two_calls_at_once_are_done_in_order(world: World) -> None:
    server = converse(
        world,
        says(("run_command", {"command": "echo 1"}), ("run_command", {"command": "echo 2"})),
        says(FINAL, LOOK),
    )
    told = server.requests[1]["messages"][-2:]
    assert ["1\\n" in told[0]["content"], "2\\n" in told[1]["content"]] == [True, True]
    assert world.codes == ["ok", "ok", "ok"], "nothing is done after the final answer"


@pytest.mark.parametrize(
    ("step", "code"),
    [
        (says(("read_file", '{"path": "a')), "bad_request"),
        (says(("read_file", "[]")), "bad_request"),
        (says(("read_file", '{"path": NaN}')), "bad_request"),
        (says(("read_file", {"file": "a"})), "bad_arguments"),
        (says(("read_file", "")), "bad_arguments"),
        (says(("bash", {"command": "ls"})), "unknown_tool"),
        (says(text="What shall I do?"), "bad_request"),
        (says(), "bad_request"),
    ],
)
def test_a_wrong_call_is_an_answer_that_the_model_is_told(
    world: World, step: Step, code: str
) -> None:
    server = converse(world, step, says(FINAL))
    assert world.codes == [code, "ok"]
    assert code in server.requests[1]["messages"][-1]["content"]
    for call in server.requests[1]["messages"][2].get("tool_calls", ()):
        assert call["function"]["arguments"].startswith("{"), "history is sound JSON"


def test_what_such_answers_have_used_is_told_at_the_end(world: World) -> None:
    with ChatServer(says(text="Hm."), says(("a", "{")), says(FINAL)) as server:
        made = agent(server, world)
        world.run(made)
    used = made.used()
    assert used is not None
    assert used.input_tokens == 200


def test_a_model_that_only_talks_ends_the_run(world: World) -> None:
    converse(world, says(text="Hm."))
    assert world.ended.reason == "agent_garbage"
    assert world.ended.turns == 10


@pytest.mark.parametrize(
    "fault",
    [
        error(429, retry_after="0.01"),
        error(429, retry_after="soon"),
        error(500),
        error(503),
        Fault(body=b'{"choices": [', missing=100),
        Fault(body=b'{"choices": ['),
        Fault(body=b"<html>", headers={"content-type": "text/html"}),
        Fault(body=b'{"choices": []}'),
        Fault(body=b'{"choices": [{"message": "hm"}]}'),
        Fault(body=b"null"),
        Fault(body=b"[1]"),
    ],
)
def test_a_passing_fault_is_waited_for(world: World, fault: Fault) -> None:
    server = converse(world, fault, fault, says(FINAL))
    assert len(server.requests) == 3
    assert world.ended.reason == "final_answer"
    assert "[attempt 2 failed" in (world.folder / "agent.log").read_text()


@pytest.mark.parametrize(
    ("fault", "asked"),
    [
        (error(500), ATTEMPTS),
        (Fault(body=b'{"choices": [', missing=100), ATTEMPTS),
        (error(401, "bad key"), 1),
        (error(404, "no such model"), 1),
        (error(429, "pay first", "insufficient_quota"), 1),
    ],
)
def test_a_lasting_fault_is_no_failure_of_the_model(world: World, fault: Fault, asked: int) -> None:
    with ChatServer(says(LOOK), fault) as server:
        with pytest.raises(ModelError, match=r"The model m at .* cannot be used"):
            world.run(agent(server, world))
        assert len(server.requests) == 1 + asked
    assert world.codes == ["ok"]
    assert world.ended.reason == "provider_error"
    assert "cannot be used" in world.ended.message


def test_where_nobody_listens(world: World) -> None:
    with ChatServer(says(FINAL)) as server:
        pass
    with pytest.raises(ModelError, match="Connection error"):
        world.run(agent(server, world))


def test_old_results_are_left_out_where_the_context_is_full(world: World) -> None:
    full = error(400, "too long", "context_length_exceeded")
    server = converse(world, says(LOOK), says(LOOK), says(LOOK), full, says(FINAL))
    told = [each["content"] for each in server.requests[-1]["messages"] if each["role"] == "tool"]
    assert [content == LEFT_OUT for content in told] == [True, True, False]
    assert world.ended.reason == "final_answer"


def test_a_context_that_is_too_small_ends_the_run(world: World) -> None:
    full = error(400, "This model's maximum context length is 10 tokens.")
    converse(world, says(LOOK), full)
    assert (world.ended.reason, world.ended.message) == ("agent_exited", FULL)


def test_a_model_that_does_not_answer_is_silent(world: World) -> None:
    world.task = task(limits={"silence_seconds": 0.2})
    converse(world, error(503, retry_after="50"))
    assert world.ended.reason == "agent_silent"
