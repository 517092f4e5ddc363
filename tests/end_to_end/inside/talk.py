"""An agent for the container: talks to its model and looks for what it should not find."""

import contextlib
import http.client
import json
import os
import pathlib
import socket
import sys
import urllib.error
import urllib.request

BASE = os.environ["OPENAI_BASE_URL"]
NEEDLE = sys.argv[1].replace("-", "")  # the key itself is not to be on our command line
found: dict[str, object] = {}


def ask(path: str) -> http.client.HTTPResponse:
    headers = {"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    answer = urllib.request.urlopen(urllib.request.Request(BASE + path, b"{}", headers), timeout=60)
    assert isinstance(answer, http.client.HTTPResponse)
    return answer


def status(path: str) -> int:
    try:
        return ask(path).status
    except urllib.error.HTTPError as error:
        return error.code


def places() -> "list[pathlib.Path]":
    kept = [*pathlib.Path("/proc").glob("[0-9]*/environ")]
    kept += pathlib.Path("/proc").glob("[0-9]*/cmdline")
    for top in ("/.sandbox", "/etc", "/home", "/tmp", "/run", "/opt/venv/bin"):
        kept += [path for path in pathlib.Path(top).rglob("*") if path.is_file()]
    return kept


stream = ask("/chat/completions")
found["first"] = stream.readline().decode()
found["models"] = status("/models")  # lets the server go on with the stream
found["rest"] = stream.read().decode()
found["statuses"] = [status("/responses/429"), status("/responses/500"), status("/files")]
try:
    ask("/responses/half").read()
except http.client.IncompleteRead as error:
    found["half"] = error.partial.decode()
held = []
for place in places():
    with contextlib.suppress(OSError):
        if NEEDLE.encode() in place.read_bytes().replace(b"-", b""):
            held.append(str(place))
own = {f"/proc/{os.getpid()}/cmdline", "/proc/self/cmdline"}
found["held"] = [place for place in held if place not in own]
reached: list[tuple[str, int]] = []
found["reached"] = reached
for address in (("127.0.0.1", int(sys.argv[2])), ("192.0.2.1", 80), ("172.17.0.1", 80)):
    with contextlib.suppress(OSError):
        socket.create_connection(address, 2)
        reached.append(address)
sys.stdout.write(json.dumps(found))
