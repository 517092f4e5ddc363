"""The stream: garbage, back-pressure, and either side going away."""

import os
import select
import signal
import socket
import struct
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.container.supervisor import protocol
from sandbox.container.supervisor.client import Supervisor
from sandbox.container.supervisor.protocol import FrameReader, Reply, Request
from sandbox.model.errors import ProtocolError, SessionLostError
from tests.sandbox.container.supervisor.local import SECONDS, Local, Start, command
from tests.sandbox.container.supervisor.streams import SocketStream


def exchange(binary: Path, data: bytes) -> list[tuple[Reply, int, bytes]]:
    """What a supervisor says to `data` and the end of the stream, until it leaves."""
    done = subprocess.run(
        [binary, "--stdio"], input=data, capture_output=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr
    return list(FrameReader().feed(done.stdout))


def peak_of(pid: int) -> int:
    """The most memory that a process has held, in bytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) << 10
    raise AssertionError(pid)


def test_the_greeting_comes_first(binary: Path) -> None:
    ((kind, request, payload),) = exchange(binary, b"")
    greeting = protocol.greeting(payload)
    assert (kind, request, greeting.protocol) == (Reply.GREETING, 0, 1)
    assert greeting.architecture == os.uname().machine
    assert greeting.kernel == os.uname().release


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("<I", 4) + bytes(5),
        struct.pack("<I", protocol.FRAME_LIMIT + 1) + bytes(5),
        struct.pack("<IBI", 5, 0, 1),
        *(struct.pack("<IBI", 5, kind, 1) for kind in (1, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15)),
        protocol.frame(Request.RUN, 1, bytes(70)),
        protocol.frame(Request.LIST, 1, bytes(8) + struct.pack("<I", 1 << 31) + b"/"),
    ],
)
def test_a_malformed_frame_ends_in_a_fault(binary: Path, data: bytes) -> None:
    frames = exchange(binary, data)
    assert frames[-1][0] in (Reply.FAULT, Reply.ERROR)
    if data[4] != Request.RUN:
        assert frames[-1][0] is Reply.FAULT


harmless = st.sampled_from([2, 3, 4, 8, 9, 10, 12, 13, 99])


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.one_of(st.binary(max_size=60), st.tuples(harmless, st.binary(max_size=80)))))
def test_garbage_never_breaks_it(binary: Path, parts: list[bytes | tuple[int, bytes]]) -> None:
    data = b""
    for part in parts:
        if isinstance(part, bytes):
            data += part
        else:
            data += struct.pack("<IBI", len(part[1]) + 5, part[0], 7) + part[1]
    assert exchange(binary, data)[0][0] is Reply.GREETING


def test_a_killed_supervisor_is_noticed_by_all_who_wait(start: Start) -> None:
    local = start()
    process = local.supervisor.start(command("sleep", "600"))
    failures: list[BaseException] = []

    def wait() -> None:
        with pytest.raises(SessionLostError) as caught:
            process.wait(SECONDS)
        failures.append(caught.value)

    threads = [threading.Thread(target=wait) for _ in range(4)]
    for thread in threads:
        thread.start()
    local.process.kill()
    for thread in threads:
        thread.join(SECONDS)
    assert len(failures) == 4
    for call in (lambda: local.run("true"), lambda: local.supervisor.read("/etc/hostname")):
        with pytest.raises(SessionLostError):
            call()
    with pytest.raises(SessionLostError):
        process.poll()


@pytest.mark.parametrize("how", ["close", "kill"])
def test_no_process_outlives_the_supervisor(start: Start, tmp_path: Path, how: str) -> None:
    local = start()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    script = f"exec 9> {pipe}; (setsid sleep 600 &); sleep 600"
    local.supervisor.start(command("/bin/sh", "-c", script))
    with pipe.open("rb") as held:  # opens once the shell has it
        if how == "close":
            local.supervisor.close()
        else:
            local.process.send_signal(signal.SIGKILL)
        assert select.select([held], [], [], SECONDS)[0], "somebody still holds it"
        assert held.read() == b""


@pytest.mark.parametrize("number", [1, 2, 3, 10, 12, 13, 14, 15, 17, 20, 21, 25, 64])
def test_signals_do_not_end_it(local: Local, number: int) -> None:
    local.process.send_signal(number)
    assert local.run("true").exit_code == 0
    ignored = local.shell("grep -E '^Sig(Blk|Ign)' /proc/self/status").stdout.split()
    assert ignored[1::2] == [b"0" * 16, b"0" * 16]


def test_a_host_that_does_not_read_holds_everything_up_and_loses_nothing(
    binary: Path,
) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        number = theirs.fileno()
        process = subprocess.Popen([str(binary), "--stdio"], stdin=number, stdout=number)
        theirs.close()
        gate = _Gate(ours)
        supervisor = Supervisor(gate, SECONDS)
        gate.open.clear()
        size = 20_000_000
        flood = ("head", "-c", str(size), "/dev/zero")
        with ThreadPoolExecutor(3) as pool:
            floods = [command(*flood, stdout_limit=size) for _ in range(3)]
            running = [pool.submit(supervisor.run, each) for each in floods]
            assert not any(each.done() for each in running)
            assert peak_of(process.pid) < 64 << 20
            gate.open.set()
            assert [len(each.result(SECONDS).stdout) for each in running] == [size] * 3
        assert peak_of(process.pid) < 64 << 20
        supervisor.close()
        assert process.wait(SECONDS) == 0


def test_no_greeting_is_an_error() -> None:
    ours, theirs = socket.socketpair()
    with theirs, pytest.raises(SessionLostError, match="did not answer"):
        Supervisor(SocketStream(ours), 0.05)


@pytest.mark.parametrize("data", [b"HTTP/1.1 400 Bad Request\r\n\r\n", bytes(20)])
def test_another_program_at_the_other_end_is_an_error(data: bytes) -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.sendall(data)
        with pytest.raises(ProtocolError):
            Supervisor(SocketStream(ours), SECONDS)


def test_another_version_is_refused() -> None:
    ours, theirs = socket.socketpair()
    payload = struct.pack("<I", 2) + protocol.string("x86_64") + protocol.string("6") + bytes(4)
    with theirs:
        theirs.sendall(protocol.HEADER.pack(len(payload) + 5, Reply.GREETING, 0) + payload)
        with pytest.raises(ProtocolError, match="version 2"):
            Supervisor(SocketStream(ours), SECONDS)


class _Gate(SocketStream):
    """A stream whose receiving side can be held shut."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(connection)
        self.open = threading.Event()
        self.open.set()

    def receive(self) -> bytes:
        data = super().receive()
        self.open.wait(SECONDS)
        return data
