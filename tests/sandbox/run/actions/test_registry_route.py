"""When the route is open, for whom, and what is told of it."""

import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.container.engines.base import Session, SessionSpec
from sandbox.container.engines.fake import FakeEngine
from sandbox.model.decision import Answer, Question
from sandbox.model.errors import SessionLostError, SourceError
from sandbox.model.event import NetworkConnected
from sandbox.model.registry import Registry
from sandbox.rules.policy.grants import Grant
from sandbox.run.actions.registry_route import Route
from tests.sandbox.container.mirror.packages import Files, registry, wheel


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return wheel(tmp_path, "needed", "2.0")


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    engine = FakeEngine()
    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    engine.build(tmp_path, tag="t", labels={}, network="none", on_line=lambda _: None)
    with engine.start(SessionSpec("t")) as session:
        yield session


@pytest.fixture
def offered(files: Files) -> Registry:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return registry(files, port=free.getsockname()[1], scope="packages")


@pytest.fixture
def route(session: Session, offered: Registry, files: Files) -> Route:
    return Route(session, offered, files)


def grant(scope: str = "packages", at: int = 7) -> Grant:
    return Grant(Question(scope=scope, command="c"), Answer(approved=True), at)


def reached(offered: Registry) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{offered.port}/simple/") as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError):
        return False


def test_it_is_open_from_the_grant_to_the_end(route: Route, offered: Registry) -> None:
    assert not reached(offered)
    with route.during("1", [grant()]):
        assert reached(offered)
        route.use([grant(at=9)], "1")
        assert reached(offered)
    assert not reached(offered)
    with route.during("2", []):
        assert not reached(offered)
        route.use([grant(at=9)], "2")
        assert reached(offered)
    assert not reached(offered)
    told = [(event.kind, action) for event, action in route.take()]
    one = ["network_connected", "registry_request"]
    assert told == [*[(kind, "1") for kind in [*one, one[1]]], *[(kind, "2") for kind in one]]
    assert route.take() == []


def test_a_grant_of_another_scope_opens_nothing(route: Route, offered: Registry) -> None:
    with route.during("1", [grant("network")]):
        route.use([grant("network"), grant("release")], "1")
        assert not reached(offered)
        route.use([grant("network"), grant(at=3)], "1")
        assert reached(offered)
    connected = [event for event, _ in route.take() if isinstance(event, NetworkConnected)]
    assert [(event.scope, event.granted_at) for event in connected] == [("packages", 3)]


def test_what_is_left_of_an_earlier_action_opens_nothing(route: Route, offered: Registry) -> None:
    with route.during("1", []):
        pass
    route.use([grant()], "1")
    assert not reached(offered)
    with route.during("2", []):
        route.use([grant()], "1")
        assert not reached(offered)
    assert route.take() == []


def test_an_action_that_fails_closes_it(route: Route, offered: Registry) -> None:
    def fail() -> None:
        with route.during("1", [grant()]):
            assert reached(offered)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert not reached(offered)


def test_a_port_that_is_taken_is_told(route: Route, offered: Registry) -> None:
    with (
        socket.create_server(("127.0.0.1", offered.port)),
        route.during("1", [grant()]),
    ):
        pass
    ((event, action),) = route.take()
    assert isinstance(event, NetworkConnected)
    assert (event.problem, action) == ("Address already in use", "1")


def test_a_session_that_is_lost_is_an_error(route: Route, session: Session) -> None:
    with route.during("1", [grant()]):
        session.close()
    with pytest.raises(SessionLostError), route.during("2", [grant()]):
        pass


def test_a_world_without_a_registry_has_none(session: Session) -> None:
    nowhere = Route(session, None, {})
    with nowhere.during("1", [grant()]):
        nowhere.use([grant()], "1")
    assert nowhere.take() == []


def test_a_damaged_file_is_found_before_anything_is_run(
    session: Session, offered: Registry, files: Files
) -> None:
    for path in files.values():
        path.write_bytes(b"")
    with pytest.raises(SourceError):
        Route(session, offered, files)
