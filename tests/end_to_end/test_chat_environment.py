"""Tasks as an environment of chats: a model that is a function acts, and is worth what it did."""

import json
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import JsonValue

import sandbox
from sandbox.agents.messages import Message
from sandbox.model.store import Store
from sandbox.run.chat_environment import Complete
from sandbox.tasks import library
from tests.end_to_end.commands import TASK

pytestmark = pytest.mark.engine


def calls(*wanted: tuple[str, JsonValue]) -> Message:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": f"c{at}", "type": "function", "function": {"name": name, "arguments": given}}
            for at, (name, given) in enumerate(wanted)
        ],
    }


def called(messages: list[Message]) -> list[tuple[str, object]]:
    """The calls in messages, in order."""
    made: list[Any] = [
        call for each in messages for call in cast(Any, each.get("tool_calls")) or ()
    ]
    functions = [call["function"] for call in made]
    return [(each["name"], json.loads(each["arguments"])) for each in functions]


def scripted(messages: Iterable[Any]) -> Complete:
    """A model that says what it is to say."""
    left = iter(messages)
    return lambda *_: next(left)


@pytest.mark.slow
def test_the_oracle_as_a_model_is_worth_one(runs: Path) -> None:
    script = [(each.action, json.dumps(each.arguments)) for each in library.load(TASK).task.oracle]
    turns = [calls(*script[:3]), *(calls(each) for each in script[3:])]
    environment = sandbox.ChatEnvironment(TASK, name="oracle as a chat", runs=runs)
    (row,) = environment.dataset
    assert row["prompt"][0]["role"] == "user"
    assert row["info"]["facet"] == library.load(TASK).task.facet
    rollout = environment.rollout(scripted(turns), row)
    assert (rollout["reward"], rollout["verdict"]) == (1.0, "passed")
    assert set(rollout["rewards"].values()) == {1.0}
    told = [each for each in rollout["completion"] if each["role"] == "tool"]
    assert [each["tool_call_id"] for each in told[:4]] == ["c0", "c1", "c2", "c0"]
    stored = sandbox.messages(rollout["run"], runs=runs)
    assert called(stored) == called(rollout["completion"])
    assert str(row["prompt"][0]["content"]).endswith(str(stored[0]["content"]))


@pytest.mark.slow
def test_who_calls_nothing_that_can_be_read_has_given_up(runs: Path) -> None:
    model = scripted(
        [
            {"role": "assistant", "content": "Let me think."},
            calls(("run_command", "{broken")),
            calls(("list_files", {})),
            {"role": "assistant", "tool_calls": [{"id": "x"}, 7]},
            {"role": "assistant", "tool_calls": "none"},
            calls(("list_files", "[]")),
        ]
    )
    environment = sandbox.ChatEnvironment([TASK], runs=runs)
    (rollout,) = environment.rollouts(model)
    assert rollout["reward"] == 0
    answers = [
        str(each["content"]) for each in rollout["completion"] if each["role"] != "assistant"
    ]
    assert [answer[:20] for answer in answers] == [
        "Your answer called n",
        "The arguments cannot",
        '{"status":"ok","resu',
        "The call names no fu",
        "Your answer called n",
        "The arguments cannot",
    ]
    (folder,) = Store(runs).folders()
    end = folder.record().end
    assert end is not None
    assert (end.how, end.turns) == ("gave_up", 1), "what cannot be read costs no action"


def test_a_model_that_fails_leaves_no_run_open(runs: Path) -> None:
    def model(messages: list[Message], tools: list[dict[str, JsonValue]]) -> Message:
        if len(messages) > 1:
            raise ConnectionError("the model is gone")
        return calls(("list_files", {}))

    environment = sandbox.ChatEnvironment(TASK, runs=runs)
    with pytest.raises(ConnectionError):
        environment.rollouts(model)
    (folder,) = Store(runs).folders()
    record = folder.record()
    assert record.ended is not None
    assert record.verdict == "error"


@pytest.mark.slow
def test_what_one_rollout_raises_ends_the_others(runs: Path) -> None:
    entered = threading.Barrier(2, timeout=60)

    def model(messages: list[Message], tools: list[dict[str, JsonValue]]) -> Message:
        if len(messages) == 1:
            entered.wait()
        if "Reports spell" in str(messages[0]["content"]):
            raise ConnectionError("the model is gone")
        return calls(("run_command", json.dumps({"command": "sleep 30"})))

    environment = sandbox.ChatEnvironment("inflection/*", runs=runs)
    began = time.monotonic()
    with pytest.raises(ConnectionError):
        environment.rollouts(model, at_once=2)
    assert time.monotonic() - began < 25
    assert {folder.record().verdict for folder in Store(runs).folders()} == {"error"}
