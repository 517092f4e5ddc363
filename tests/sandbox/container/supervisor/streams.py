"""Streams to a supervisor that runs without a container."""

import contextlib
import os
import socket
import subprocess

RECEIVE_SIZE = 1 << 18
EXIT_SECONDS = 15


class SocketStream:
    """A connected stream socket, which it owns."""

    def __init__(self, connection: socket.socket) -> None:
        connection.settimeout(None)
        self._socket = connection

    def send(self, data: bytes) -> None:
        """Send all of it."""
        self._socket.sendall(data)

    def receive(self) -> bytes:
        """Some bytes, b"" at the end."""
        return self._socket.recv(RECEIVE_SIZE)

    def close(self) -> None:
        """End the connection."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


class PipeStream:
    """Standard input and output of a child process, which it owns."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        if process.stdin is None or process.stdout is None:
            raise ValueError("the process must have pipes for input and output")
        self._process = process
        self._input, self._output = process.stdin, process.stdout
        self._output_number = process.stdout.fileno()

    def send(self, data: bytes) -> None:
        """Send all of it."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._input.fileno(), rest) :]

    def receive(self) -> bytes:
        """Some bytes, b"" at the end."""
        return os.read(self._output_number, RECEIVE_SIZE)

    def close(self) -> None:
        """Close its input, at which the supervisor ends; kill it if it does not."""
        with contextlib.suppress(OSError):
            self._input.close()
        try:
            self._process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._output.close()
