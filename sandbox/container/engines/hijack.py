"""Attach to a container: an HTTP request whose connection becomes the container's streams.

https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Container/operation/ContainerAttach
Done by hand, because no HTTP library gives a connection away cleanly.
"""

import json
import re
import socket
import ssl
from contextlib import suppress
from urllib.parse import urlsplit

from sandbox.container.engines.endpoints import Certificates, Endpoint
from sandbox.model.errors import EngineError

DOCKER_PORT = 2375
HEAD_LIMIT = 65536
SECONDS = 60.0
END_OF_HEAD = b"\r\n\r\n"
SWITCHED = (101, 200)
"""How engines say that the connection is a stream now; 200 where a proxy hid our upgrade."""


def attach(endpoint: Endpoint, api: str, container: str) -> socket.socket:
    """The standard streams of a container, as the engine multiplexes them.

    Raises `EngineError`. Attach before the start, else the first output is missed.
    """
    try:
        connection = _connect(endpoint)
    except OSError as error:
        raise EngineError(f"The engine did not answer ({error.strerror or error}).") from error
    try:
        query = "stream=1&stdin=1&stdout=1&stderr=1"
        connection.sendall(
            f"POST /v{api}/containers/{container}/attach?{query} HTTP/1.1\r\n"
            "Host: docker\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n"
            "Content-Length: 0\r\n\r\n".encode()
        )
        _check(connection, container)
        connection.settimeout(None)
    except OSError as error:
        connection.close()
        raise EngineError(f"The engine did not let us attach ({error}).") from error
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(endpoint: Endpoint) -> socket.socket:
    if path := endpoint.socket:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(SECONDS)
        try:
            connection.connect(str(path))
        except BaseException:
            connection.close()
            raise
        return connection
    address = urlsplit(endpoint.address)
    host, port = address.hostname or "localhost", address.port or DOCKER_PORT
    plain = socket.create_connection((host, port), SECONDS)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return _secured(plain, host, endpoint.certificates) if endpoint.certificates else plain


def _secured(plain: socket.socket, host: str, files: Certificates) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=files.authority if files.verify else None)
    if not files.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    context.load_cert_chain(*files.client)
    return context.wrap_socket(plain, server_hostname=host)


def _check(connection: socket.socket, container: str) -> None:
    """Read the head of the answer, and not one byte behind it."""
    head = b""
    while not head.endswith(END_OF_HEAD) and len(head) < HEAD_LIMIT:
        piece = connection.recv(1)
        if not piece:
            raise ConnectionError("it closed the connection")
        head += piece
    status = head.split(b"\r\n")[0].decode(errors="replace")
    if not any(f" {good} " in f"{status} " for good in SWITCHED):
        reason = _reason(connection, head) or status
        raise EngineError(f"The engine refused to attach to {container} ({reason}).")


def _reason(connection: socket.socket, head: bytes) -> str:
    """Read what the engine says of a refusal, empty where that is nothing.

    Podman makes what it was told of a container only now, and says here what it cannot do.
    """
    length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
    body, most = b"", min(int(length[1]), HEAD_LIMIT) if length else 0
    while len(body) < most and (piece := connection.recv(most - len(body))):
        body += piece
    with suppress(ValueError, TypeError, KeyError):
        return str(json.loads(body)["message"])
    return ""
