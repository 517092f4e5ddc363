from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine, Session, SessionSpec
from sandbox.model import places
from sandbox.tasks.images import Images
from tests.sandbox.run.containers import LIMITS, LOADED, Container


@pytest.fixture
def session(engine: Engine) -> Iterator[Session]:
    image = Images(engine, places.cache()).ensure(LOADED, lambda _: None)
    with engine.start(SessionSpec(image.tag, limits=LIMITS)) as session:
        yield session


@pytest.fixture
def container(session: Session, tmp_path: Path) -> Container:
    return Container(session, tmp_path)
