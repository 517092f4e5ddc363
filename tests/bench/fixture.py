"""What the measurements share: the engine, the task and its image."""

from collections.abc import Iterator
from contextlib import contextmanager

import docker

from sandbox.container import engines
from sandbox.container.engines.base import MANAGED, Engine, Session, SessionSpec
from sandbox.model import places
from sandbox.tasks import library
from sandbox.tasks.images import BuiltImage, Images
from sandbox.tasks.library import LoadedTask

TASK = "humanize/file-sizes"
LABELS = {MANAGED: "1", "sandbox.run": "bench"}


@contextmanager
def prepared() -> Iterator[tuple[Engine, LoadedTask, BuiltImage]]:
    engine = engines.connect()
    try:
        task = library.load(TASK)
        yield engine, task, Images(engine, places.cache()).ensure(task, lambda _: None)
    finally:
        engine.close()


def open_session(engine: Engine, image: str) -> Session:
    return engine.start(SessionSpec(image=image, labels=LABELS))


def create_and_start(client: docker.APIClient, image: str) -> str:
    """Plain Docker: two requests and nothing else, without a network."""
    settings = client.create_host_config(network_mode="none")
    created = client.create_container(
        image, ["/bin/sleep", "600"], host_config=settings, labels=LABELS
    )
    container = str(created["Id"])
    client.start(container)
    return container
