from collections.abc import Iterator

import pytest

from sandbox import places, tasks
from sandbox.engines import connect
from sandbox.engines.base import Engine
from sandbox.images import Images
from sandbox.tasks import LoadedTask


@pytest.fixture(scope="session")
def task() -> LoadedTask:
    return tasks.load("humanize/file-sizes")


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    engine = connect()
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def image(engine: Engine, task: LoadedTask) -> str:
    return Images(engine, places.cache()).ensure(task, print).tag
