"""An HTTP server of the candidate's, asked over the loopback of its container.

The container has no way to the host: each request goes through a process of another user's, which
copies bytes between its standard streams and a connection.
"""

import http.client
import io
import json
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sandbox.grading.cases.answers import Answer, Fields
from sandbox.grading.cases.standing import Standing
from sandbox.grading.cases.subjects import START_SECONDS, from_json
from sandbox.grading.json_conversation import Unanswered
from sandbox.grading.runners import wire
from sandbox.model.case import HttpSubject
from sandbox.model.session import Command

CONNECT = "exec 3<>/dev/tcp/127.0.0.1/$0"
RELAY = f"{CONNECT} && cat >&3 && exec cat <&3"
PAUSE_SECONDS = 0.05


class HttpServer:
    """A server that runs, and a relay for each request."""

    def __init__(self, subject: HttpSubject, server: Standing, relay: Standing) -> None:
        self._session, self._relay = server.session, relay
        self._port = str(subject.port)
        self._server = self._session.start(server.command(subject.argv))
        self._ready = False

    def call(self, given: Mapping[str, Any], seconds: float) -> Answer:
        """Give `status`, `headers` (names in lower case), `body` (text) and `json`."""
        if not self._ready:
            self._wait(time.monotonic() + START_SECONDS)
        about = self._bash(RELAY, seconds)
        completed = self._session.run(replace(about, stdin=_request(given, self._port)))
        if completed.timed_out:
            raise Unanswered("it took too long")
        return _response(completed.stdout)

    def close(self) -> None:
        """Kill the server."""
        self._server.kill()
        self._server.wait()

    def _wait(self, deadline: float) -> None:
        """Wait until the port is open."""
        while self._session.run(self._bash(CONNECT, START_SECONDS)).exit_code != 0:
            ended = self._server.poll()
            if ended is not None:
                raise Unanswered(f"the server ended with status {ended.exit_code}")
            if time.monotonic() > deadline:
                raise Unanswered(f"nothing listens at port {self._port}")
            time.sleep(PAUSE_SECONDS)
        self._ready = True

    def _bash(self, line: str, seconds: float) -> Command:
        argv = ("/bin/bash", "-c", line, self._port)
        return self._relay.command(argv, seconds)


def _request(given: Mapping[str, Any], port: str) -> bytes:
    body = str(given.get("body", "")).encode()
    headers = {"Host": f"127.0.0.1:{port}", "Connection": "close"}
    if "json" in given:
        body = json.dumps(given["json"]).encode()
        headers["Content-Type"] = "application/json"
    headers |= {"Content-Length": str(len(body))}
    headers |= {str(name): str(value) for name, value in given.get("headers", {}).items()}
    lines = [f"{given.get('method', 'GET')} {given.get('path', '/')} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


class _Received:
    """What http.client takes for a socket."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self._data)


def _response(data: bytes) -> Fields:
    response = http.client.HTTPResponse(_Received(data))  # type: ignore[arg-type]
    try:
        response.begin()
        body = response.read()
    except (http.client.HTTPException, ValueError, OSError) as error:
        raise Unanswered(f"it gave no response: {type(error).__name__}") from error
    fields: dict[str, Any] = {
        "status": wire.encode(response.status),
        "headers": wire.encode({name.lower(): value for name, value in response.getheaders()}),
        "body": wire.encode(body.decode("utf-8", "replace")),
    }
    kind = response.getheader("Content-Type", "").partition(";")[0].strip()
    if kind == "application/json" or kind.endswith("+json"):
        fields["json"] = from_json(body)
    return Fields(fields)
