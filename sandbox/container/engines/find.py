"""Reach the engine. The Docker library is imported only when this is called."""

from sandbox.container.engines.base import Engine


def connect() -> Engine:
    """The engine of DOCKER_HOST, of the Docker context, or of a socket in its usual place.

    Raises `EngineError`, which says where it looked and what each place answered.
    """
    from sandbox.container.engines.docker_engine import DockerEngine

    return DockerEngine.connect()
