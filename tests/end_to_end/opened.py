"""A session that is open while a test goes on."""

import json
import os
import signal
import socket
import struct
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import JsonValue

from sandbox.agents.call_server import address
from sandbox.model.briefing import Reply
from sandbox.model.run_folder import RunFolder
from sandbox.model.store import Store
from tests.end_to_end.commands import HUMANIZE, SECONDS, Ended, sandbox


def keeper(folder: RunFolder) -> int:
    """The process that listens at the run's socket."""
    with socket.socket(socket.AF_UNIX) as near, address(folder.calls) as short:
        near.connect(short)
        found = near.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        process: int = struct.unpack("3i", found)[0]
        return process


class Opened:
    """Opens a session; at the end it is gone, whatever has become of it."""

    def __init__(self, runs: Path, *options: str, **environment: str) -> None:
        self.runs = runs
        self._environment = environment
        self.ended = sandbox("open", HUMANIZE, "--runs", runs, *options, **environment)
        assert self.ended.code == 0, self.ended
        self.id = self.ended.out.strip()
        self.folder = Store(runs).find(self.id)
        self.keeper = keeper(self.folder)

    def call(self, action: str, arguments: dict[str, JsonValue]) -> Ended:
        return sandbox(
            "call", self.id, action, json.dumps(arguments), "--runs", self.runs, **self._environment
        )

    def reply(self, action: str, arguments: dict[str, JsonValue]) -> Reply:
        """What comes of an action that is carried out."""
        called = self.call(action, arguments)
        assert (called.code, called.err) == (0, "")
        return Reply.model_validate_json(called.out)

    def close(self, *options: str) -> Ended:
        return sandbox("close", self.id, "--runs", self.runs, *options, **self._environment)

    def kill(self) -> None:
        """End the session's process as a crash would, and wait until it is gone."""
        os.kill(self.keeper, signal.SIGKILL)
        end = time.monotonic() + SECONDS
        while Path(f"/proc/{self.keeper}/exe").exists():
            assert time.monotonic() < end
            time.sleep(0.01)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
