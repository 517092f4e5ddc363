"""The socket of an open session: any line is answered, and none breaks the run."""

import json
import socket
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.agents.call_server import CallServer, address
from sandbox.agents.called_agent import CalledAgent
from sandbox.agents.requests import LINE_LIMIT
from sandbox.agents.session_caller import Caller, listens
from sandbox.model.action import Request
from sandbox.model.briefing import Ended, Reply
from sandbox.model.call import (
    ANSWERED,
    Call,
    Close,
    Closing,
    KeptOpen,
    NotUnderstood,
    Performed,
    Unread,
)
from sandbox.model.errors import CallError
from sandbox.model.observation import ErrorCode


class Echo:
    """A session whose every action is answered with its own arguments."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.agent = CalledAgent("caller")
        self.server = CallServer(path, self.agent)
        self._pool = ThreadPoolExecutor(1)
        self._work = self._pool.submit(self._answer)

    def _answer(self) -> list[str]:
        asked: list[str] = []
        request = self.agent.next(None, 60)
        while isinstance(request, Request):
            asked.append(request.action)
            reply = Reply(
                id=request.id, status="ok", error_code=None, message=None, result=request.arguments
            )
            request = self.agent.next(reply, 60)
        self.agent.close(None, Ended(ended="agent_exited", message=self.agent.ending().says))
        return asked

    def end(self) -> list[str]:
        """End it; the actions that were asked for."""
        self.agent.leave("It is over.")
        asked = self._work.result(60)
        self.server.close()
        self._pool.shutdown()
        return asked


@pytest.fixture
def echo(tmp_path: Path) -> Iterator[Echo]:
    echo = Echo(tmp_path / "calls")
    yield echo
    echo.end()


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Echo]:
    echo = Echo(tmp_path_factory.mktemp("echo") / "calls")
    yield echo
    assert set(echo.end()) <= {"still_there"}


def said(path: Path, data: bytes) -> list[bytes]:
    """What is answered to some bytes and the end of the sending."""
    with socket.socket(socket.AF_UNIX) as near, address(path) as short:
        near.settimeout(60)
        near.connect(short)
        try:
            near.sendall(data)
            near.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError, OSError):
            pass  # it did not want to hear more
        try:
            return near.makefile("rb").readlines()
        except ConnectionResetError:
            return []


def test_an_action_is_answered(echo: Echo) -> None:
    with Caller(echo.path) as caller:
        for number in range(3):
            answer = caller.ask(Call(action="look", arguments={"number": number}))
            assert isinstance(answer, Performed)
            assert answer.reply.result == {"number": number}


def test_after_the_end_it_is_told_how_it_ended(echo: Echo) -> None:
    with Caller(echo.path) as caller:
        assert caller.ask(Close()) == Closing()
        answer = caller.ask(Call(action="look"))
        assert isinstance(answer, Performed)
        assert answer.reply.error_code == "run_over"
        assert answer.reply.message == "The run is over: The session was closed."
        assert caller.ask(Close()) == Closing()


class Refusing(Echo):
    """A session that refuses whatever lacks fields, and says how many turns are left."""

    def _answer(self) -> list[str]:
        request = self.agent.next(None, 60)
        while isinstance(request, Request):
            refused = "fields" not in request.arguments
            reply = Reply(
                id=request.id,
                status="error" if refused else "ok",
                error_code=ErrorCode.BAD_ARGUMENTS if refused else None,
                message="An answer has fields." if refused else None,
                result={},
                turns_left=9,
            )
            request = self.agent.next(reply, 60)
        self.agent.close(None, Ended(ended="agent_exited", message=self.agent.ending().says))
        return []


@pytest.mark.parametrize(
    "slip",
    [
        Call(action="final_answer", arguments={}),
        Unread(action="final_answer", problem="An answer has fields."),
    ],
)
def test_a_refused_answer_is_not_closed_behind_at_the_first_try(
    tmp_path: Path, slip: Call | Unread
) -> None:
    session = Refusing(tmp_path / "calls")
    with Caller(session.path) as caller, Caller(session.path) as other:
        caller.ask(slip)
        assert other.ask(Close()) == KeptOpen(problem="An answer has fields.")
        assert caller.ask(Close()) == Closing()
    session.end()


@pytest.mark.parametrize("after", ["look", "final_answer"])
def test_whoever_went_on_after_it_closes_at_once(tmp_path: Path, after: str) -> None:
    session = Refusing(tmp_path / "calls")
    with Caller(session.path) as caller:
        caller.ask(Call(action="final_answer"))
        caller.ask(Call(action=after, arguments={"fields": {}}))
        assert caller.ask(Close()) == Closing()
    session.end()


@pytest.mark.parametrize("slip", [Call(action="look"), Unread(action="look", problem="No.")])
def test_an_action_that_is_no_answer_keeps_nothing_open(
    tmp_path: Path, slip: Call | Unread
) -> None:
    session = Refusing(tmp_path / "calls")
    with Caller(session.path) as caller:
        caller.ask(slip)
        assert caller.ask(Close()) == Closing()
    session.end()


def test_after_the_end_no_answer_keeps_it_open(echo: Echo) -> None:
    with Caller(echo.path) as caller:
        assert caller.ask(Close()) == Closing()
        caller.ask(Call(action="final_answer"))
        assert caller.ask(Close()) == Closing()


def test_only_the_owner_may_connect_and_nothing_is_left(tmp_path: Path) -> None:
    echo = Echo(tmp_path / "calls")
    assert stat.S_IMODE(echo.path.stat().st_mode) == 0o600
    assert listens(echo.path)
    echo.end()
    assert list(tmp_path.iterdir()) == []
    assert not listens(echo.path)


def test_a_path_may_be_longer_than_an_address(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 200)
    folder.mkdir()
    echo = Echo(folder / "calls")
    assert listens(echo.path)
    echo.end()


def test_where_no_socket_can_be_made(tmp_path: Path) -> None:
    with pytest.raises(CallError, match="No socket can be made"):
        CallServer(tmp_path / "no such folder" / "calls", CalledAgent("caller"))


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200) | st.text(max_size=60).map(str.encode))
def test_garbage_is_told_and_nothing_else(lasting: Echo, data: bytes) -> None:
    for answer in said(lasting.path, data):
        assert isinstance(ANSWERED.validate_json(answer), NotUnderstood)


@settings(deadline=None)
@given(
    fields=st.dictionaries(
        st.sampled_from(["kind", "action", "arguments", "more"]),
        st.sampled_from(["call", "close", "look"]) | st.none() | st.integers() | st.just({}),
    )
)
def test_fields_that_are_wrong_are_told(lasting: Echo, fields: dict[str, object]) -> None:
    right = ({"kind", "action"}, {"kind", "action", "arguments"}, {"kind"})
    if fields.keys() in right and fields.get("kind") in ("call", "close"):
        return
    (answer,) = said(lasting.path, json.dumps(fields).encode() + b"\n")
    assert isinstance(ANSWERED.validate_json(answer), NotUnderstood)


def test_half_a_line_and_one_that_is_too_long_do_nothing(lasting: Echo) -> None:
    half = Call(action="look").model_dump_json().encode()
    (answer,) = said(lasting.path, half)
    assert b"ended in the middle" in answer
    for answer in said(lasting.path, half[:-1] + b" " * LINE_LIMIT + b"}\n"):
        assert b"at most" in answer
    with Caller(lasting.path) as caller:
        assert isinstance(caller.ask(Call(action="still_there")), Performed)
