"""A listener of this host, and who still asks when it is gone."""

import queue
import socket

from sandbox.container.engines.loopback import LoopbackListener
from sandbox.model.connection import Connection


def test_a_connection_can_be_asked_after_its_listener() -> None:
    served: queue.SimpleQueue[Connection] = queue.SimpleQueue()

    def serve(connection: Connection) -> None:
        served.put(connection)
        connection.receive()

    with (
        LoopbackListener(0, serve) as listener,
        socket.create_connection(("127.0.0.1", listener.port)),
    ):
        connection = served.get(timeout=30)
        assert not connection.was_cut(0)
    assert connection.was_cut(0)
