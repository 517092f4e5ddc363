"""A session of the fake engine: files in memory, commands answered by a script."""

import errno
import os
import platform
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from types import TracebackType
from typing import Self

from sandbox.container.engines.fake_conversation import FakeConversation
from sandbox.container.engines.fake_files import Files, packed, refused, unpacked
from sandbox.container.engines.fake_notice import FakeNotice
from sandbox.container.engines.loopback import LoopbackListener
from sandbox.container.supervisor import top_level
from sandbox.model.connection import Serve
from sandbox.model.errors import SessionLostError
from sandbox.model.session import (
    AGENT,
    ROOT,
    Command,
    Completed,
    DiskUse,
    Exec,
    ExecObserver,
    FileEntry,
    Greeting,
    Usage,
    User,
    Wanted,
    WatchedFiles,
)

SIGKILL = 9
Conclude = Callable[[Completed], None]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command does, as far as anyone outside can see."""

    exit_code: int = 0
    stdout: bytes = b""
    stderr: bytes = b""
    seconds: float | None = 0.0
    """How long it runs; None until it is killed."""
    survivors: int = 0


Script = Mapping[tuple[str, ...], Answer | Callable[[Command, Files], Answer]]
"""Answers by argv. Each word of a pattern is a glob; a last `**` stands for any more words."""


class FakeProcess:
    """A command of a script that is running or has ended."""

    def __init__(self, command: Command, answer: Answer, conclude: Conclude | None = None) -> None:
        self._command = command
        self._conclude = conclude
        self._answer = answer
        self._start = time.monotonic()
        self._killed = threading.Event()
        self._lost = threading.Event()
        self._end: Completed | None = None

    def poll(self) -> Completed | None:
        """How it ended, or None while it runs."""
        try:
            return self.wait(0)
        except TimeoutError:
            return None

    def wait(self, timeout: float | None = None) -> Completed:
        """Block until it ends; TimeoutError after `timeout` seconds, and it goes on."""
        if self._end is not None:
            return self._end
        own = self._answer.seconds
        ends = [seconds for seconds in (own, self._command.timeout) if seconds is not None]
        left = max(0.0, self._start + min(ends) - time.monotonic()) if ends else None
        waits = [seconds for seconds in (left, timeout) if seconds is not None]
        stopped = self._killed.wait(min(waits) if waits else None)
        if self._lost.is_set():
            raise SessionLostError("The session is closed.", "Start another one.")
        if not stopped and timeout is not None and (left is None or timeout < left):
            raise TimeoutError(f"{self._command.argv[0]!r} still runs")
        self._end = self._completed(killed=stopped, timed_out=not stopped and min(ends) != own)
        if self._conclude is not None:
            self._conclude(self._end)
        return self._end

    def kill(self) -> None:
        """Kill it; returns at once."""
        if self.poll() is None:
            self._killed.set()

    def abandon(self) -> None:
        """End it because its container went away."""
        self._lost.set()
        self._killed.set()

    def _completed(self, *, killed: bool, timed_out: bool) -> Completed:
        answer = self._answer
        ended = killed or timed_out
        return Completed(
            exit_code=None if ended else answer.exit_code,
            signal=SIGKILL if ended else None,
            stdout=answer.stdout[: self._command.stdout_limit],
            stderr=answer.stderr[: self._command.stderr_limit],
            stdout_bytes=len(answer.stdout),
            stderr_bytes=len(answer.stderr),
            duration=time.monotonic() - self._start,
            timed_out=timed_out,
            killed=killed,
            survivors=answer.survivors,
            user_seconds=0.0,
            system_seconds=0.0,
            peak_bytes=0,
            out_of_memory=False,
        )


class FakeSession:
    """A container that exists in this process only."""

    def __init__(
        self, container: str, files: Files, script: Script, end: Callable[[], None]
    ) -> None:
        self.container = container
        self.greeting = Greeting(0, platform.machine(), platform.release(), frozenset())
        self._files = files
        self._script = script
        self._end = end
        self._lost = False
        self._processes: list[FakeProcess] = []
        self._listeners: list[LoopbackListener] = []
        self._observer: ExecObserver | None = None
        self._notice: FakeNotice | None = None

    def on_exec(self, observer: ExecObserver | None) -> None:
        """Tell this observer of commands; nothing below them exists."""
        self._observer = observer

    def watch(self, files: WatchedFiles) -> None:
        """Notice what happens to files below folders, whenever it is asked; not who reads them."""
        self._notice = FakeNotice(
            lambda: {path: node.entry(path, digest=True) for path, node in self._files.walk(b"/")},
            (*files.roots, *files.only),
            files.excluding,
        )

    def settle(self) -> None:
        """Tell the observer what has happened until now."""
        self._alive()
        if self._notice is not None and self._observer is not None:
            self._notice.tell(self._observer)

    def run(self, command: Command) -> Completed:
        """Start a command and wait for its end."""
        return self.start(command).wait()

    def start(self, command: Command) -> FakeProcess:
        """Start a command and return at once."""
        files = self._alive()
        conclude = self._intercepted(command)
        process = FakeProcess(command, _answer(self._script, command, files), conclude)
        self._processes.append(process)
        return process

    def converse(self, command: Command) -> FakeConversation:
        """Start a command that answers each message as if that were its whole input."""
        return FakeConversation(command, lambda said: self.start(replace(command, stdin=said)))

    def _intercepted(self, command: Command) -> Conclude | None:
        """Ask the observer, and say what to do at the end; raises where it refuses."""
        if command.interception == "off":
            return None
        observer, seen = self._observer, top_level.execution(command)
        answer = errno.EPERM if observer is None else observer.seen(seen)
        if seen.held and answer:
            raise top_level.refusal(seen, answer)
        return None if observer is None else partial(_concluded, observer, seen)

    def read(
        self,
        path: str | bytes,
        *,
        beneath: str | bytes = "/",
        offset: int = 0,
        limit: int | None = None,
        user: User = ROOT,
        follow: bool = True,
    ) -> bytes:
        """Bytes of a regular file."""
        return self._alive().read(
            os.fsencode(path), os.fsencode(beneath), offset, limit, user=user, follow=follow
        )

    def write(
        self,
        path: str | bytes,
        data: bytes | bytearray,
        *,
        beneath: str | bytes = "/",
        mode: int | None = None,
        user: User = AGENT,
        parents: bool = False,
        follow: bool = True,
    ) -> None:
        """Write a whole regular file."""
        self._alive().write(
            os.fsencode(path),
            bytes(data),
            beneath=os.fsencode(beneath),
            mode=mode,
            user=user,
            parents=parents,
            follow=follow,
        )

    def remove(
        self,
        path: str | bytes,
        *,
        beneath: str | bytes = "/",
        user: User = AGENT,
        follow: bool = True,
    ) -> None:
        """Remove a file, a link or an empty directory."""
        name, start = os.fsencode(path), os.fsencode(beneath)
        self._alive().remove(name, beneath=start, user=user, follow=follow)

    def stat(
        self, path: str | bytes, *, beneath: str | bytes = "/", follow: bool = False
    ) -> FileEntry:
        """One entry."""
        name = os.fsencode(path)
        node = self._alive().find(name, beneath=os.fsencode(beneath), last=follow)
        return node.entry(name)

    def list(
        self, path: str | bytes, *, beneath: str | bytes = "/", user: User = ROOT
    ) -> list[FileEntry]:
        """Entries of a directory in byte order."""
        node = self._alive().directory(os.fsencode(path), os.fsencode(beneath), user)
        return [child.entry(name) for name, child in sorted(node.children.items())]

    def manifest(
        self,
        roots: Sequence[str],
        *,
        excluding: Sequence[str] = (),
        digest: bool = False,
        wanted: Wanted | None = None,
        since: int = 0,
    ) -> dict[bytes, bytes]:
        """Everything below `roots`: absolute path to an opaque record."""
        left_out = [os.fsencode(path).rstrip(b"/") for path in excluding]
        found = {
            path: packed(node.entry(path, digest=digest))
            for root in roots
            for path, node in self._alive().walk(os.fsencode(root))
            if node.ctime_ns > since
            and not any(path == each or path.startswith(each + b"/") for each in left_out)
        }
        return {path: each for path, each in found.items() if not wanted or wanted(path, each)}

    def entry(self, path: bytes, record: bytes) -> FileEntry:
        """What a manifest's record says."""
        return unpacked(path, record)

    def listen(self, port: int, serve: Serve) -> LoopbackListener:
        """Listen on a port of this host's loopback: there is no other."""
        self._alive()
        listener = LoopbackListener(port, serve)
        self._listeners.append(listener)
        return listener

    def hurry(self) -> None:
        """Nothing here is slow."""

    def kill_all(self, but: object = None) -> int:  # noqa: ARG002 - nothing goes on between words
        """Kill every process; how many were alive."""
        self._alive()
        alive = [process for process in self._processes if process.poll() is None]
        for process in alive:
            process.kill()
        return len(alive)

    def usage(self) -> Usage:
        """What was used until now."""
        self._alive()
        alive = sum(process.poll() is None for process in self._processes)
        return Usage(None, None, alive, 0)

    def disk(self, most_files: int) -> DiskUse:  # noqa: ARG002
        """Nothing: it has no disk."""
        return DiskUse(0, 0, None)

    def overlay(self) -> None:
        """None: there is no file system on this host."""

    def lose(self) -> None:
        """End as a container does that someone removes."""
        self._lost = True
        for process in self._processes:
            process.abandon()
        for listener in self._listeners:
            listener.close()

    def close(self) -> None:
        """End the session."""
        self.lose()
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _alive(self) -> Files:
        if self._lost:
            raise SessionLostError("The session is closed.", "Start another one.")
        return self._files


def _answer(script: Script, command: Command, files: Files) -> Answer:
    """The answer of the first pattern that matches; FileNotFoundError where none does."""
    words = tuple(os.fsdecode(word) for word in command.argv)
    for pattern, answer in script.items():
        if _matches(pattern, words):
            return answer if isinstance(answer, Answer) else answer(command, files)
    raise refused(errno.ENOENT, os.fsencode(command.argv[0]))


def _matches(pattern: tuple[str, ...], words: tuple[str, ...]) -> bool:
    if pattern[-1:] == ("**",):
        pattern, words = pattern[:-1], words[: len(pattern) - 1]
    return len(pattern) == len(words) and all(map(fnmatchcase, words, pattern))


def _concluded(observer: ExecObserver, seen: Exec, completed: Completed) -> None:
    observer.ended(seen, top_level.end(completed))
