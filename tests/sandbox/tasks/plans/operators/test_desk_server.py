"""The tool server of a layer: laid down, started, and asked as the harness asks tool servers."""

from collections.abc import Iterator

import pytest

from sandbox.container import world_layer
from sandbox.container.engines.base import Engine, Session, SessionSpec
from sandbox.container.servers import Servers, ToolAnswer
from sandbox.container.servers.mcp_client import RefusedError
from sandbox.model import places
from sandbox.model.desk import Desk, DeskTool, Reply
from sandbox.model.layer import Layer
from sandbox.tasks import library
from sandbox.tasks.images import Images
from sandbox.tasks.plans.operators.desk_server import served

pytestmark = pytest.mark.engine

LOADED = library.load("qs/guard-once")
SECONDS = 20
DESK = Desk(
    tools=(
        DeskTool(
            name="give",
            about="Gives.",
            arguments={"key": "Which."},
            replies=(
                Reply(where={"key": "a"}, times=2, says="first"),
                Reply(where={"key": "a"}, marks=("third", "odd"), says="then"),
                Reply(where={"key": "b"}, before="third", says="too early"),
                Reply(where={"key": "b"}, after="odd", says="ü", structured={"n": 1}),
                Reply(error=True, says="no"),
            ),
        ),
        DeskTool(name="nothing", about="Has no end.", replies=(Reply(times=1, says="once"),)),
    )
)
SERVER = served("desk", "A desk.", DESK)


@pytest.fixture
def session(engine: Engine) -> Iterator[Session]:
    image = Images(engine, places.cache()).ensure(LOADED, lambda _: None)
    with engine.start(SessionSpec(image.tag)) as session:
        layer = Layer(servers=(SERVER,))
        world_layer.lay(session, layer, LOADED.worktree, LOADED.repository.author)
        yield session


def test_replies_are_given_in_their_order_and_for_what_has_gone_before(session: Session) -> None:
    servers = Servers()

    def give(**arguments: object) -> ToolAnswer:
        return servers.call(session, SERVER, "give", arguments, SECONDS)  # type: ignore[arg-type]

    try:
        assert give(key="b").text == "too early"
        assert [give(key="a").text for _ in range(3)] == ["first", "first", "then"]
        late = give(key="b")
        assert (late.text, late.structured, late.is_error) == ("ü", {"n": 1}, False)
        for wrong in ({"key": "c"}, {"key": ["a"]}, {"key": 7}):
            assert (give(**wrong).text, give(**wrong).is_error) == ("no", True)
        missing = give(other="a")
        assert (missing.text, missing.is_error) == ("These arguments are missing: key.", True)
        assert servers.call(session, SERVER, "nothing", {}, SECONDS).text == "once"
        assert servers.call(session, SERVER, "nothing", {}, SECONDS).is_error
        with pytest.raises(RefusedError, match="There is no such tool"):
            servers.call(session, SERVER, "take", {}, SECONDS)
    finally:
        servers.close()


def test_tools_are_told_with_the_arguments_that_they_need(session: Session) -> None:
    servers = Servers()
    try:
        give, nothing = servers.tools(session, SERVER, SECONDS)
    finally:
        servers.close()
    assert (give.name, give.description) == ("give", "Gives.")
    assert give.schema_["required"] == ["key"]
    assert give.schema_["properties"] == {"key": {"type": "string", "description": "Which."}}
    assert (nothing.name, nothing.schema_["required"]) == ("nothing", [])
