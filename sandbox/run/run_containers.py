"""The containers of a run: what they are started from, and the labels by which they are known."""

from pathlib import Path

from sandbox.container.engines.base import Engine, Limits, Session, SessionSpec
from sandbox.run.laid_worlds import LaidWorlds
from sandbox.tasks.images import BuiltImage
from sandbox.tasks.library import LoadedTask

RUN, KEPT = "sandbox.run", "sandbox.kept"
"""Labels of a run's containers: its id, whether it is to stay."""

MARGIN = 64 << 20
"""Bytes by which the engine's own limit lies above a run's, so that who reaches it is found out."""

_LAID = LaidWorlds()


def begin(
    engine: Engine,
    task: LoadedTask,
    image: BuiltImage,
    run: str,
    *,
    keep: bool = False,
    files: Path | None = None,
    bare: bool = False,
) -> Session:
    """Start a container of a run, in the state that the agent finds; `gc` knows it by the run's id.

    `bare` leaves it as its image is; `files` is a folder of this host for an agent in it. Raises
    as `Engine.start` and `LaidWorlds.lay` do.
    """
    session = engine.start(_specification(task, image, run, keep=keep, files=files))
    if bare:
        return session
    try:
        _LAID.lay(session, task, image)
    except BaseException:
        session.close()
        raise
    return session


def _specification(
    task: LoadedTask, image: BuiltImage, run: str, *, keep: bool, files: Path | None
) -> SessionSpec:
    limits = task.task.limits
    return SessionSpec(
        image=image.id,
        labels={RUN: run} | ({KEPT: "1"} if keep else {}),
        limits=Limits(
            memory_bytes=limits.memory_bytes,
            disk_bytes=limits.disk_bytes + MARGIN,
            processes=limits.processes,
            cpus=limits.cpus,
        ),
        keep=keep,
        files=files,
    )
