"""A model that picks among the answers of a task's user."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pydantic import JsonValue

from sandbox.agents.llm_endpoint import Endpoint, Model
from sandbox.model.errors import ModelError
from sandbox.model.user import UserAnswer
from sandbox.run.facts.scripted_user import ScriptedUser
from sandbox.run.user_model import UserModel
from tests.sandbox.agents.chat_server import ChatServer, Step, error, says
from tests.sandbox.worlds import task

ANSWERS = (
    UserAnswer(id="port", asked=(("port",),), says="It is 80."),
    UserAnswer(id="host", asked=(("host",),), says="Call it box.", times=1),
)


@contextmanager
def asked(*steps: Step) -> Iterator[tuple[UserModel, ChatServer]]:
    with ChatServer(*steps) as server:
        endpoint = Endpoint(Model("m", "secret", server.url), lambda _: None, first_wait=0.01)
        yield UserModel(endpoint), server
        endpoint.close()


@pytest.mark.parametrize(
    ("step", "picked"),
    [
        (says(("pick", {"answer": "host"})), "host"),
        (says(("pick", {"answer": "none"})), None),
        (says(("pick", {"answer": "the moon"})), None),
        (says(("pick", "[]")), None),
        (says(("pick", "{")), None),
        (says(text="The host, I think."), None),
        (error(400, "the maximum context is reached"), None),
    ],
)
def test_it_picks_one_that_there_is_or_none(step: Step, picked: str | None) -> None:
    with asked(step) as (model, server):
        assert model("What machine?", ANSWERS) == picked
    told = server.requests[0]
    assert "What machine?" in told["messages"][1]["content"]
    parameters = told["tools"][0]["function"]["parameters"]
    assert parameters["properties"]["answer"]["enum"] == ["port", "host", "none"]


def test_where_none_can_be_asked_the_run_cannot_go_on() -> None:
    with asked(error(401)) as (model, _), pytest.raises(ModelError, match="cannot be used"):
        model("What machine?", ANSWERS)


def test_it_is_asked_where_words_do_not_do_and_of_what_may_be_said_then() -> None:
    answers: list[JsonValue] = [each.model_dump(mode="json") for each in ANSWERS]
    user: dict[str, JsonValue] = {"answers": answers, "otherwise": "No."}
    with asked(says(("pick", {"answer": "host"}))) as (model, server):
        one = ScriptedUser(task(user=user), model)
        assert one.answer("Which port?").text == "It is 80."
        assert not server.requests
        assert one.answer("What machine?").text == "Call it box."
        assert one.answer("What machine?").text == "No."
    assert "Call it box." not in str(server.requests[1]["messages"])
