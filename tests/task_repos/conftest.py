"""What the tests of every task need; their modules name the task as `LOADED`."""

from collections.abc import Iterator

import pytest

from sandbox.container.engines.base import Engine, Session, SessionSpec
from sandbox.model import places
from sandbox.tasks.images import BuiltImage, Images


@pytest.fixture(scope="module")
def image(request: pytest.FixtureRequest, engine: Engine) -> BuiltImage:
    return Images(engine, places.cache()).ensure(request.module.LOADED, print)


@pytest.fixture
def session(engine: Engine, image: BuiltImage) -> Iterator[Session]:
    with engine.start(SessionSpec(image.tag)) as session:
        yield session
