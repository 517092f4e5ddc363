"""The one address that requests are passed on to, by HTTP/1.1, through the host's proxy if it has.

Redirects are not followed: the key goes nowhere else.
"""

import base64
import contextlib
import http.client
import socket
import ssl
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self
from urllib.parse import SplitResult, unquote, urlsplit

from sandbox.model.errors import UsageError

CONNECT_SECONDS = 10.0
READ_SECONDS = 600.0
"""How long a model may say nothing."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """Where the model is, and its key."""

    url: str
    """Its address up to, and without, `/v1`."""
    key: str = field(default="", repr=False)

    @classmethod
    def chosen(cls, url: str, key: str) -> Self:
        """Take an address with or without `/v1`; UsageError for one that is none."""
        try:
            parts = urlsplit(url)
            fit = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            fit = False
        if not fit or parts.query or parts.fragment or parts.username is not None:
            raise UsageError(
                f"{url!r} is not the address of a model.", "Give one such as https://host:port/v1."
            )
        if not (key.isascii() and key.isprintable()):
            raise UsageError("The model's key holds characters that no header can.")
        return cls(url.rstrip("/").removesuffix("/v1").rstrip("/"), key)

    @property
    def parts(self) -> SplitResult:
        """The address in its parts."""
        return urlsplit(self.url)


class Link:
    """A connection to the upstream, for one request. `abort` may come from another thread."""

    def __init__(self, upstream: Upstream) -> None:
        """Connect; OSError or HTTPException where that fails."""
        self._upstream, self._parts = upstream, upstream.parts
        self._to_proxy: dict[str, str] | None = None
        """Headers for a proxy that reads the request; None where there is none."""
        self._connection = self._connect()
        self._socket: socket.socket = self._connection.sock
        self._socket.settimeout(READ_SECONDS)

    def ask(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> http.client.HTTPResponse:
        """Send a request and wait for the head of the answer."""
        place = self._parts.path + target
        given = {**headers, "Host": self._parts.netloc, "Connection": "close"}
        if self._to_proxy is not None:
            place = f"{self._parts.scheme}://{self._parts.netloc}{place}"
            given |= self._to_proxy
        if body or method not in ("GET", "HEAD", "DELETE"):
            given["Content-Length"] = str(len(body))
        connection = self._connection
        connection.putrequest(method, place, skip_host=True, skip_accept_encoding=True)
        for name, value in given.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        return connection.getresponse()

    def abort(self) -> None:
        """Let whoever waits for the upstream wait no more."""
        with contextlib.suppress(OSError):
            # The plain socket's: TLS has a reader that must not lose its state.
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        scheme, host, port = self._parts.scheme, self._parts.hostname or "", self._parts.port
        found = urllib.request.getproxies().get(scheme, "")
        proxy = urlsplit(found if "//" in found else f"//{found}")
        if not proxy.hostname or urllib.request.proxy_bypass(host):
            connection = _plain(scheme, host, port)
        else:
            connection = _plain(scheme, proxy.hostname, proxy.port)
            allowed = _authorization(proxy)
            if scheme == "https":
                connection.set_tunnel(host, port, allowed)
            else:
                self._to_proxy = allowed
        connection.connect()
        return connection


def _plain(scheme: str, host: str, port: int | None) -> http.client.HTTPConnection:
    if scheme == "https":
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(host, port, timeout=CONNECT_SECONDS, context=context)
    return http.client.HTTPConnection(host, port, timeout=CONNECT_SECONDS)


def _authorization(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    words = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(words.encode()).decode()}"}
