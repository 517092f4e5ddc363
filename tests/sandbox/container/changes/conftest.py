import pytest

from sandbox.container.engines.base import Engine
from sandbox.model import places
from sandbox.tasks import library
from sandbox.tasks.images import Images
from sandbox.tasks.library import LoadedTask


@pytest.fixture(scope="session")
def task() -> LoadedTask:
    return library.load("humanize/file-sizes")


@pytest.fixture(scope="module")
def image(engine: Engine, task: LoadedTask) -> str:
    return Images(engine, places.cache()).ensure(task, print).tag
