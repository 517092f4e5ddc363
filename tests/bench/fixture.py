"""What the measurements share: the engine, the task and its image."""

from collections.abc import Iterator
from contextlib import contextmanager

from sandbox import engines, places, tasks
from sandbox.engines.base import MANAGED, Engine, Session, SessionSpec
from sandbox.images import BuiltImage, Images
from sandbox.tasks import LoadedTask

TASK = "humanize/file-sizes"
LABELS = {MANAGED: "1", "sandbox.run": "bench"}


@contextmanager
def prepared() -> Iterator[tuple[Engine, LoadedTask, BuiltImage]]:
    engine = engines.connect()
    try:
        task = tasks.load(TASK)
        yield engine, task, Images(engine, places.cache()).ensure(task, lambda _: None)
    finally:
        engine.close()


def open_session(engine: Engine, image: str) -> Session:
    return engine.start(SessionSpec(image=image, labels=LABELS))
