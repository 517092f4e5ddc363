"""A peer of the bridge: what Codex says to its remote environment, and what nobody should."""

import base64
import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sandbox.agents.mcp_agent import McpAgent, Place
from sandbox.model.event import ActionTaken
from tests.sandbox.agents.mcp_wire import SocketClient
from tests.sandbox.runs import World

PATIENCE = 30.0
WORK = "/host/work"

Json = dict[str, Any]


class Peer:
    """Speaks to a bridge in a process of its own."""

    def __init__(self, socket: Path, worktree: Path) -> None:
        command = [sys.executable, "-P", "-m", "sandbox.agents.clients.codex.bridge"]
        self.process = subprocess.Popen(
            [*command, str(socket), WORK, str(worktree)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.count = 0
        self.told: list[Json] = []
        """Notifications."""
        self.answers: dict[int, Json] = {}

    def send(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def begin(self, method: str, **params: object) -> int:
        self.count += 1
        self.send(json.dumps({"id": self.count, "method": method, "params": params}).encode())
        return self.count

    def hear(self) -> Json:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, "the bridge has gone"
        heard: Json = json.loads(line)
        return heard

    def answer(self, number: int) -> Json:
        while number not in self.answers:
            self._take()
        return self.answers.pop(number)

    def ask(self, method: str, **params: object) -> Json:
        """The result."""
        answered = self.answer(self.begin(method, **params))
        assert "error" not in answered, answered
        result: Json = answered["result"]
        return result

    def refused(self, method: str, **params: object) -> Json:
        """The error."""
        answered = self.answer(self.begin(method, **params))
        assert "result" not in answered, answered
        error: Json = answered["error"]
        return error

    def start(self, identifier: str, line: str, **params: object) -> None:
        argv = ["/bin/bash", "-c", line]
        given = {"argv": argv, "cwd": uri(""), "env": {}, "tty": False, **params}
        assert self.ask("process/start", processId=identifier, **given)["processId"] == identifier

    def ended(self, identifier: str) -> tuple[int, str, str]:
        """Exit code and output, once a process is closed."""
        while not (told := self.about(identifier)) or told[-1]["method"] != "process/closed":
            self._take()
        numbers = [each["params"]["seq"] for each in told]
        assert numbers == list(range(1, len(told) + 1))
        streams = {"stdout": b"", "stderr": b""}
        for each in told[:-2]:
            streams[each["params"]["stream"]] += base64.b64decode(each["params"]["chunk"])
        code: int = told[-2]["params"]["exitCode"]
        return code, streams["stdout"].decode(), streams["stderr"].decode()

    def about(self, identifier: str) -> list[Json]:
        return [each for each in self.told if each["params"]["processId"] == identifier]

    def greet(self) -> Json:
        greeting = self.ask("initialize", clientName="peer", resumeSessionId=None)
        self.send(b'{"method":"initialized","params":{}}')
        return greeting

    def leave(self) -> int:
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(PATIENCE)

    def _take(self) -> None:
        heard = self.hear()
        if "id" in heard:
            self.answers[heard["id"]] = heard
        else:
            self.told.append(heard)


class Scene:
    """A run that goes on in a thread, and who is connected to it."""

    def __init__(self, world: World) -> None:
        self.world = world
        socket = world.folder / "mcp.sock"
        self.agent = McpAgent(None, Place(socket, world.folder / "out", world.folder / "log"))
        self.thread = threading.Thread(target=world.run, args=(self.agent,))
        self.thread.start()
        self.agent.address()
        self.peer = Peer(socket, world.root)
        self.client = SocketClient(socket)
        self.client.greet()

    def finish(self) -> None:
        """Give the final answer, and wait for the run's end."""
        self.client.answer(self.client.begin("final_answer", fields={}))
        self.client.file.close()
        self.client.socket.close()
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()

    @property
    def actions(self) -> list[tuple[str, Json]]:
        """What was asked of the run before its final answer."""
        events = [entry.event for entry in self.world.entries]
        asked = [event for event in events if isinstance(event, ActionTaken)]
        return [(each.name, each.arguments) for each in asked][:-1]


@contextlib.contextmanager
def scene(world: World) -> Iterator[Scene]:
    opened = Scene(world)
    try:
        yield opened
    finally:
        opened.peer.process.kill()
        with contextlib.suppress(BrokenPipeError), opened.peer.process:
            pass  # closes its streams
        if opened.thread.is_alive():
            opened.finish()


def uri(path: str, root: str = WORK) -> str:
    return "file://" + quote(f"{root}/{path}".rstrip("/"))


def coded(content: bytes) -> str:
    return base64.b64encode(content).decode()
