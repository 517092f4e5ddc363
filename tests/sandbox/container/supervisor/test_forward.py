"""Listeners whose connections come to the host: data, stalls, ends, and everything at once."""

import contextlib
import errno
import hashlib
import os
import socket
import struct
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

import pytest

from sandbox.container.supervisor import protocol
from sandbox.model.connection import Connection
from tests.sandbox.container.supervisor.local import SECONDS, Local, Start

BLOCK = os.urandom(1 << 20)


def echo(connection: Connection) -> None:
    while data := connection.receive():
        connection.send(data)
    connection.end()


def dial(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), SECONDS)


def read_all(client: socket.socket) -> bytes:
    parts = []
    while data := client.recv(1 << 16):
        parts.append(data)
    return b"".join(parts)


def ask(port: int, data: bytes) -> bytes:
    """Send, end, and read to the end."""
    with dial(port) as client, ThreadPoolExecutor(1) as pool:
        answer = pool.submit(read_all, client)
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        return answer.result(SECONDS)


def descriptors(local: Local) -> int:
    return len([*Path(f"/proc/{local.process.pid}/fd").iterdir()])


class Held:
    """Serves by handing connections to the test, until it lets them go."""

    def __init__(self) -> None:
        self.connections: SimpleQueue[Connection] = SimpleQueue()
        self.over = threading.Event()
        self.served = 0

    def __call__(self, connection: Connection) -> None:
        self.connections.put(connection)
        self.over.wait(SECONDS)
        self.served += 1

    def next(self) -> Connection:
        return self.connections.get(timeout=SECONDS)


@pytest.fixture
def held() -> Iterator[Held]:
    held = Held()
    yield held
    held.over.set()


def test_bytes_go_both_ways_and_each_side_ends_for_itself(local: Local) -> None:
    with local.supervisor.listen(0, echo) as listener:
        assert ask(listener.port, b"hello") == b"hello"
        assert ask(listener.port, b"") == b""
        data = BLOCK * 8
        assert hashlib.sha256(ask(listener.port, data)).digest() == hashlib.sha256(data).digest()


def test_the_host_may_end_first(local: Local, held: Held) -> None:
    with local.supervisor.listen(0, held) as listener, dial(listener.port) as client:
        connection = held.next()
        connection.send(b"welcome")
        connection.end()
        assert read_all(client) == b"welcome"
        client.sendall(b"thanks")
        client.shutdown(socket.SHUT_WR)
        assert connection.receive(3) + connection.receive() == b"thanks"
        assert connection.receive() == b""
        with pytest.raises(BrokenPipeError):
            connection.send(b"more")
        held.over.set()


def test_what_was_sent_before_a_close_arrives(local: Local) -> None:
    def serve(connection: Connection) -> None:
        connection.receive()
        connection.send(BLOCK)

    with local.supervisor.listen(0, serve) as listener, dial(listener.port) as client:
        client.sendall(b"x")
        assert read_all(client) == BLOCK


def test_what_the_client_has_not_taken_at_a_close_still_arrives(local: Local, held: Held) -> None:
    sent = 0

    def fill(connection: Connection) -> None:
        nonlocal sent
        with contextlib.suppress(BrokenPipeError):
            while True:
                connection.send(BLOCK[:1000])
                sent += 1

    with local.supervisor.listen(0, held) as listener, dial(listener.port) as client:
        connection = held.next()
        filler = threading.Thread(target=fill, args=(connection,))
        filler.start()
        before = -1
        while before != sent:  # until it waits for the client
            before = sent
            assert not connection.was_cut(0.2)
        connection.close()
        filler.join(SECONDS)
        assert len(read_all(client)) >= sent * 1000
        held.over.set()


def test_sixty_four_at_once(local: Local) -> None:
    before = descriptors(local)
    with local.supervisor.listen(0, echo) as listener, ThreadPoolExecutor(64) as pool:
        blocks = [BLOCK[start * 1000 :][: 1 << 18] for start in range(64)]
        answers = list(pool.map(lambda block: ask(listener.port, block), blocks))
        assert answers == blocks
    assert descriptors(local) == before


def test_more_than_may_be_open_wait_for_their_turn(local: Local, held: Held) -> None:
    with local.supervisor.listen(0, held) as listener:
        clients = [dial(listener.port) for _ in range(140)]
        connections = [held.next() for _ in range(128)]
        assert local.shell("echo alive").stdout == b"alive\n"
        assert held.connections.empty()
        for connection in connections[:12]:
            connection.close()
        for _ in range(12):
            held.next().send(b"late")
        held.over.set()
    for client in clients:
        client.close()


@pytest.mark.thorough
def test_a_client_that_never_reads_stalls_nobody_else(local: Local) -> None:
    blocked = threading.Event()

    def serve(connection: Connection) -> None:
        if connection.receive(1) == b"b":
            blocked.set()
            connection.send(BLOCK * 64)
        else:
            echo(connection)

    with local.supervisor.listen(0, serve) as listener:
        stalled = [dial(listener.port) for _ in range(20)]
        for client in stalled:
            client.sendall(b"b")
        assert blocked.wait(SECONDS)
        assert ask(listener.port, b"e" + BLOCK) == BLOCK
        assert local.shell("head -c 3000000 /dev/zero").stdout_bytes == 3_000_000
    for client in stalled:
        client.close()


def test_a_server_that_never_reads_stalls_nobody_else(local: Local, held: Held) -> None:
    with local.supervisor.listen(0, held) as listener, dial(listener.port) as client:
        client.settimeout(0.2)
        with pytest.raises(TimeoutError):
            client.sendall(BLOCK * 64)
        with local.supervisor.listen(0, echo) as other:
            assert ask(other.port, BLOCK) == BLOCK
        assert local.shell("echo alive").stdout == b"alive\n"
        assert len(held.next().receive(1 << 20)) <= protocol.STREAM_WINDOW
        held.over.set()


def test_a_client_that_is_gone_is_noticed(local: Local, held: Held) -> None:
    with local.supervisor.listen(0, held) as listener:
        client = dial(listener.port)
        connection = held.next()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        assert connection.was_cut(SECONDS)
        with pytest.raises(ConnectionError):
            connection.receive()
        with pytest.raises(ConnectionError):
            connection.send(b"x")
        held.over.set()


def test_closing_cuts_and_refuses(local: Local) -> None:
    before = descriptors(local)
    problems: SimpleQueue[OSError] = SimpleQueue()

    def serve(connection: Connection) -> None:
        connection.send(b"x")
        try:
            connection.receive()
        except OSError as error:
            problems.put(error)
            raise

    listener = local.supervisor.listen(0, serve)
    clients = [dial(listener.port) for _ in range(8)]
    for client in clients:
        assert client.recv(1) == b"x"
    listener.close()
    listener.close()
    assert problems.qsize() == 8
    for client in clients:
        with pytest.raises(ConnectionResetError):
            client.recv(1)
        client.close()
    with pytest.raises(ConnectionRefusedError):
        dial(listener.port)
    assert descriptors(local) == before
    with local.supervisor.listen(listener.port, echo):
        assert ask(listener.port, b"again") == b"again"


@pytest.mark.parametrize("how", ["close", "kill"])
def test_a_session_that_ends_in_the_middle_leaves_nothing(start: Start, how: str) -> None:
    local = start()
    failed = threading.Semaphore(0)

    def serve(connection: Connection) -> None:
        try:
            connection.send(BLOCK * 64)
        except ConnectionError:
            failed.release()

    listener = local.supervisor.listen(0, serve)
    clients = [dial(listener.port) for _ in range(4)]
    for client in clients:
        client.recv(1)
    if how == "close":
        local.supervisor.close()
    else:
        local.process.kill()
    for client in clients:
        assert failed.acquire(timeout=SECONDS)
        with contextlib.suppress(ConnectionResetError):
            read_all(client)
        client.close()
    listener.close()
    local.process.wait(SECONDS)
    with pytest.raises(ConnectionRefusedError):
        dial(listener.port)


def test_a_port_that_is_taken_is_an_error(local: Local) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        with pytest.raises(OSError, match="in use") as caught:
            local.supervisor.listen(other.getsockname()[1], echo)
        assert caught.value.errno == errno.EADDRINUSE
    with pytest.raises(OSError, match="Invalid"):
        local.supervisor.listen(1 << 16, echo)


def test_there_are_so_many_listeners_and_no_more(local: Local) -> None:
    listeners = [local.supervisor.listen(0, echo) for _ in range(4)]
    with pytest.raises(BlockingIOError):
        local.supervisor.listen(0, echo)
    listeners[1].close()
    with local.supervisor.listen(0, echo) as another:
        for listener in (another, listeners[0], listeners[3]):
            assert ask(listener.port, b"x") == b"x"


def test_what_serves_may_fail(local: Local) -> None:
    def serve(connection: Connection) -> None:
        raise OSError(f"no upstream for {connection}")

    with local.supervisor.listen(0, serve) as listener, dial(listener.port) as client:
        assert client.recv(1) == b""
