"""Reach the engine. The Docker library is imported only when this is called."""

import os

from sandbox.container.engines.base import Engine
from sandbox.model.engine_kinds import ENGINE_KINDS, ENGINE_VARIABLE
from sandbox.model.errors import UsageError


def chosen() -> str:
    """Which engine SANDBOX_ENGINE names; UsageError where there is no such one."""
    name = os.environ.get(ENGINE_VARIABLE) or "docker"
    if name not in ENGINE_KINDS:
        raise UsageError(
            f"{ENGINE_VARIABLE} is {name!r}.",
            f"Set it to {' or '.join(ENGINE_KINDS)}, or not at all.",
        )
    return name


def check_rights() -> None:
    """Raise what `connect` would for lack of rights, for who connects late, or in other processes.

    That is an `EngineError`, perhaps a `NameSpaceError`.
    """
    if chosen() == "native":
        from sandbox.container.engines.native import engine

        engine.check_rights()


def connect() -> Engine:
    """The native engine where SANDBOX_ENGINE says so, else one behind the Docker API.

    That is the engine of DOCKER_HOST, of the Docker context, or of a socket in its usual place.
    Raises `EngineError`, which says where it looked and what each place answered.
    """
    if chosen() == "native":
        from sandbox.container.engines.native.engine import NativeEngine

        return NativeEngine.connect()
    from sandbox.container.engines.docker_engine import DockerEngine

    return DockerEngine.connect()
