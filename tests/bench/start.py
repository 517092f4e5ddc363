"""From nothing to the first command done, against plain create and start."""

import docker

from sandbox.model.session import Command
from tests.bench.clock import Measure, interleaved
from tests.bench.fixture import create_and_start, open_session, prepared


def measure() -> list[Measure]:
    client = docker.APIClient()
    with prepared() as (engine, _, image):
        open_sessions, plain = [], []

        def ours() -> None:
            session = open_session(engine, image.tag)
            open_sessions.append(session)
            session.run(Command(("/bin/true",)))

        def floor() -> None:
            plain.append(create_and_start(client, image.tag))

        try:
            taken, bare = interleaved(15, ours, floor)
        finally:
            for session in open_sessions:
                session.close()
            for container in plain:
                client.remove_container(container, force=True)
    client.close()
    return [("sandbox ready, first command done", "create + start", taken, bare, 1.2, False)]
