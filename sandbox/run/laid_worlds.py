"""Worlds that were laid down in this process, so that another session need not make them anew."""

import hashlib
import threading
from collections import OrderedDict

from sandbox.container import world_layer
from sandbox.container.engines.base import Session
from sandbox.model.layer import Layer
from sandbox.tasks.images import BuiltImage
from sandbox.tasks.library import LoadedTask

BYTES_KEPT = 64 << 20
"""Of all archives together; those that were not used for longest go first."""


class LaidWorlds:
    """What was laid over an image by a layer, as an archive; several threads may lay at once."""

    def __init__(self, limit: int = BYTES_KEPT) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._archives = OrderedDict[bytes, bytes]()

    def lay(self, session: Session, task: LoadedTask, image: BuiltImage) -> None:
        """Lay a task's world over a session that nobody has used; raises as `world_layer.lay`."""
        layer = task.task.world.layer
        if layer == Layer():
            return
        key = _key(layer, task, image)
        with self._lock:
            archive = self._archives.get(key)
            if archive is not None:
                self._archives.move_to_end(key)
        if archive is not None:
            world_layer.lay_again(session, archive)
            return
        world_layer.lay(session, layer, task.worktree, task.repository.author)
        self._keep(key, world_layer.taken(session, task.worktree))

    def _keep(self, key: bytes, archive: bytes | None) -> None:
        if archive is None:
            return
        with self._lock:
            self._archives[key] = archive
            while sum(map(len, self._archives.values())) > self._limit:
                self._archives.popitem(last=False)


def _key(layer: Layer, task: LoadedTask, image: BuiltImage) -> bytes:
    author = task.repository.author.model_dump_json()
    text = "\0".join((image.id, task.worktree, author, layer.model_dump_json()))
    return hashlib.sha256(text.encode()).digest()
