"""A world that was laid down once is the same the next time, and is made once."""

from collections.abc import Iterator

import pytest

from sandbox.container import world_layer
from sandbox.container.engines.base import Engine, Session, SessionSpec
from sandbox.model import places
from sandbox.model.errors import LayerError
from sandbox.run.laid_worlds import LaidWorlds
from sandbox.run.validate.state import state_digest
from sandbox.tasks import library
from sandbox.tasks.images import BuiltImage, Images

pytestmark = pytest.mark.engine

TASK = library.load("humanize/file-sizes")
VARIANT = library.load("humanize/file-sizes+change-desk.3+missing-argument.2@7")


@pytest.fixture(scope="module")
def image(engine: Engine) -> BuiltImage:
    return Images(engine, places.cache()).ensure(TASK, print)


@pytest.fixture
def session(engine: Engine, image: BuiltImage) -> Iterator[Session]:
    with engine.start(SessionSpec(image.tag)) as session:
        yield session


def never(*_: object) -> None:
    raise AssertionError("it is laid down anew")


def test_the_second_session_has_what_the_first_one_has(
    session: Session, engine: Engine, image: BuiltImage, monkeypatch: pytest.MonkeyPatch
) -> None:
    worlds = LaidWorlds()
    worlds.lay(session, VARIANT, image)
    monkeypatch.setattr(world_layer, "lay", never)
    with engine.start(SessionSpec(image.tag)) as other:
        worlds.lay(other, VARIANT, image)
        assert state_digest(other) == state_digest(session)


def test_another_variant_is_laid_down_by_itself(
    session: Session, engine: Engine, image: BuiltImage
) -> None:
    worlds = LaidWorlds()
    worlds.lay(session, VARIANT, image)
    with engine.start(SessionSpec(image.tag)) as other:
        another = library.load("humanize/file-sizes+change-desk.3+missing-argument.2@8")
        worlds.lay(other, another, image)
        assert state_digest(other) != state_digest(session)


def test_a_task_without_a_layer_needs_nothing(
    session: Session, image: BuiltImage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world_layer, "lay", never)
    monkeypatch.setattr(world_layer, "taken", never)
    LaidWorlds().lay(session, TASK, image)


def test_what_does_not_fit_in_is_made_each_time(
    session: Session, engine: Engine, image: BuiltImage, monkeypatch: pytest.MonkeyPatch
) -> None:
    worlds = LaidWorlds(limit=100)
    worlds.lay(session, VARIANT, image)
    monkeypatch.setattr(world_layer, "lay_again", never)
    with engine.start(SessionSpec(image.tag)) as other:
        worlds.lay(other, VARIANT, image)
        assert state_digest(other) == state_digest(session)


def test_a_world_that_cannot_be_laid_down_is_not_kept(
    session: Session, engine: Engine, image: BuiltImage
) -> None:
    worlds = LaidWorlds()
    worlds.lay(session, VARIANT, image)
    fresh = LaidWorlds()
    with pytest.raises(LayerError, match="File exists"):
        fresh.lay(session, VARIANT, image)
    with engine.start(SessionSpec(image.tag)) as other:
        fresh.lay(other, VARIANT, image)
        assert state_digest(other) == state_digest(session)
