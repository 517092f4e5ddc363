"""What the containers of a run are started from, and the labels by which they are known."""

import time

from sandbox.container.engines.base import MANAGED, Limits, SessionSpec
from sandbox.tasks.images import BuiltImage
from sandbox.tasks.library import LoadedTask

RUN, STARTED, KEPT = "sandbox.run", "sandbox.started", "sandbox.kept"
"""Labels of a run's containers: its id, the second it was started, whether it is to stay."""

MARGIN = 64 << 20
"""Bytes by which the engine's own limit lies above a run's, so that who reaches it is found out."""


def specification(
    task: LoadedTask, image: BuiltImage, run: str, *, keep: bool = False
) -> SessionSpec:
    """Say what the containers of a run are started from; `gc` knows them by its id."""
    limits = task.task.limits
    labels = {MANAGED: "1", RUN: run, STARTED: f"{time.time():.0f}"}
    return SessionSpec(
        image=image.id,
        labels=labels | ({KEPT: "1"} if keep else {}),
        limits=Limits(
            memory_bytes=limits.memory_bytes,
            disk_bytes=limits.disk_bytes + MARGIN,
            processes=limits.processes,
            cpus=limits.cpus,
        ),
        keep=keep,
    )
