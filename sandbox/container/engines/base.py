"""The contract between the harness and whatever runs containers.

An `Engine` makes images and sessions; a `Session` is one container with one supervisor. Both
`docker.py` and `fake.py` go through `tests/sandbox/container/engines/conformance.py`.

Errors: `EngineError` where the engine is absent or refuses, `SessionLostError` once a container
or its supervisor is gone, `OSError` (FileNotFoundError, PermissionError, ...) where the
container's kernel refuses a file operation.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Protocol, Self

from sandbox.model.connection import Listener, Serve
from sandbox.model.coverage import Coverage
from sandbox.model.session import (
    AGENT,
    ROOT,
    Command,
    Completed,
    DiskUse,
    ExecObserver,
    FileEntry,
    Greeting,
    Usage,
    User,
    Wanted,
    WatchedFiles,
)

MANAGED = "sandbox.managed"
"""The label of every container and image that this project makes."""
CREATED = "sandbox.created"
"""The label of every container that says in which second, since 1970, it was made."""

RESERVED = "/.sandbox"
"""The folder of every container that holds the supervisor; no part of its change set."""

AGENT_FILES = f"{RESERVED}/agent"
"""Where an agent that runs in the container finds its files; read-only."""

SUDO = "/usr/bin/sudo"
"""The program that asks for work as root: the supervisor by another name; no part of it either."""


NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Limits:
    """What a container may use."""

    memory_bytes: int = 2 << 30
    disk_bytes: int | None = None
    """What it may write, where the engine can hold it to that; None for no limit."""
    processes: int = 512
    cpus: float = 2.0


@dataclass(frozen=True, slots=True)
class SessionSpec:
    """What a session is started from."""

    image: str
    labels: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = Limits()
    hostname: str = "sandbox"
    keep: bool = False
    """Whether the container stays, stopped, when the session is closed."""
    files: Path | None = None
    """A folder of this host that the container sees at `AGENT_FILES` and cannot write."""
    interception: Coverage = "exec"
    """At most so much is seen of commands that are intercepted; less where less works."""


@dataclass(frozen=True, slots=True)
class ImageInfo:
    """An image as the engine knows it."""

    id: str
    """The content digest, `sha256:...`."""
    tags: tuple[str, ...]
    size: int
    """Bytes, shared layers included."""
    labels: Mapping[str, str]
    environment: Mapping[str, str] = field(default_factory=dict)
    """What its Dockerfile sets; not told of several images at once."""


@dataclass(frozen=True, slots=True)
class ContainerInfo:
    """A container that carries this project's labels."""

    id: str
    labels: Mapping[str, str]
    running: bool
    begun: bool = True
    """Whether it has been started at all."""


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """What the engine says of itself."""

    name: str
    version: str
    endpoint: str
    """The address it was reached at."""
    storage_driver: str
    control_groups: str
    """`1` or `2`."""
    kernel: str
    architecture: str
    root: str
    """Where the engine keeps its data, on its own host."""
    local: bool
    """Whether engine and harness share a host, hence a file system."""
    api: str = ""
    """The version of its interface that is spoken."""
    runtime: str = ""
    """What runs its containers for us, e.g. `runc` or `runsc`."""
    rootless: bool = False
    """Whether it runs as a user who is not root."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """Directories on this host that together are a container's file system."""

    upper: Path
    """What the container wrote."""
    lower: tuple[Path, ...]
    """The image below it, topmost first."""


class Process(Protocol):
    """A command that is running or has ended."""

    def poll(self) -> Completed | None:
        """How it ended, or None while it runs."""

    def wait(self, timeout: float | None = None) -> Completed:
        """Block until it ends; TimeoutError after `timeout` seconds, and it goes on."""

    def kill(self) -> None:
        """Kill its whole process tree; returns at once, `wait` tells the end."""


class Conversation(Protocol):
    """A command that is spoken with while it runs: its standard input stays open."""

    def send(self, data: bytes, timeout: float | None = None) -> None:
        """Write all of it to standard input.

        BrokenPipeError once the command has ended, TimeoutError where it has not read for so long.
        """

    def receive(self, timeout: float | None = None) -> bytes:
        """Wait for what it prints next on standard output; b"" at its end.

        TimeoutError after `timeout` seconds. Nothing comes beyond the command's `stdout_limit`.
        """

    def wait(self, timeout: float | None = None) -> Completed:
        """Block until it ends; standard output is not in what this gives."""

    def kill(self) -> None:
        """Kill its whole process tree; returns at once, `wait` tells the end."""


class Session(Protocol):
    """One container with one supervisor. Safe to use from several threads."""

    @property
    def container(self) -> str:
        """The engine's name for the container."""

    @property
    def greeting(self) -> Greeting:
        """What the supervisor said first."""

    def on_exec(self, observer: ExecObserver | None) -> None:
        """Tell this observer of the execs of intercepted commands from now on.

        `wait` of such a command returns once its observer has been told all that came before its
        end. Without an observer, execs that are held are refused with EPERM.
        """

    def watch(self, files: WatchedFiles) -> None:
        """Tell the observer from now on what happens to files; once in a session.

        What came before an exec, or before the end of one, is told before it. OSError where
        nothing can be watched.
        """

    def settle(self) -> None:
        """Wait until the observer has been told all that has happened until now."""

    def run(self, command: Command) -> Completed:
        """Start a command and wait for its end; OSError where it cannot be started."""

    def start(self, command: Command) -> Process:
        """Start a command and return at once; OSError where it cannot be started."""

    def converse(self, command: Command) -> Conversation:
        """Start a command that is spoken with; OSError where it cannot be started.

        Its `stdin` and `interception` have to be what they are by default.
        """

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
        """Bytes of a regular file, as `user` may read it.

        A relative `path` starts at `beneath`. No `..`, absolute path or link leads out of
        `beneath`: PermissionError with errno EXDEV. With `follow=False` a symbolic link anywhere
        below `beneath` is refused with errno ELOOP.
        """

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
        """Write a whole regular file: a new one with `mode` or 0o644, or in place of an old one.

        The file is complete or untouched, also when the disk is full. Links are refused as by
        `read`. `parents` makes missing directories.
        """

    def remove(
        self,
        path: str | bytes,
        *,
        beneath: str | bytes = "/",
        user: User = AGENT,
        follow: bool = True,
    ) -> None:
        """Remove a file, a link or an empty directory; `follow` is about links on the way."""

    def stat(
        self, path: str | bytes, *, beneath: str | bytes = "/", follow: bool = False
    ) -> FileEntry:
        """One entry; FileNotFoundError where there is none."""

    def list(
        self, path: str | bytes, *, beneath: str | bytes = "/", user: User = ROOT
    ) -> list[FileEntry]:
        """Entries of a directory in byte order."""

    def manifest(
        self,
        roots: Sequence[str],
        *,
        excluding: Sequence[str] = (),
        digest: bool = False,
        wanted: Wanted | None = None,
        since: int = 0,
    ) -> dict[bytes, bytes]:
        """Everything below `roots`: absolute path to an opaque record that changes when it does.

        What is not `wanted` is left out as it comes, and takes no memory. So is, if given, what
        was not changed `since`: nanoseconds since 1970, by the time of its status.
        Other file systems mounted below a root are left out. `entry` reads a record.
        """

    def entry(self, path: bytes, record: bytes) -> FileEntry:
        """What a manifest's record says."""

    def listen(self, port: int, serve: Serve) -> Listener:
        """Listen on a port of the container's loopback, 0 for any that is free.

        `serve` is called with each client, 128 at once at most: the next ones wait. OSError where
        the port is taken. The end of the session closes it, too.
        """

    def hurry(self) -> None:
        """Lose the session, from now on, where the supervisor says nothing for a few seconds."""

    def kill_all(self, but: Conversation | None = None) -> int:
        """Kill every process but the supervisor; how many were alive.

        `but` is left alone, with all that it has started.
        """

    def usage(self) -> Usage:
        """What was used until now."""

    def disk(self, most_files: int) -> DiskUse:
        """What it has taken of the disk; no more than about so many files are looked at.

        With 0 only what is free, which takes no time.
        """

    def overlay(self) -> Overlay | None:
        """The container's file system on this host, None where it cannot be read."""

    def close(self) -> None:
        """End the session and remove its container, unless it is to be kept.

        Never raises for one that is gone.
        """

    def __enter__(self) -> Self:
        """Itself."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close."""


class Engine(Protocol):
    """Something that makes images and sessions."""

    def free_bytes(self) -> int | None:
        """What is free on its disk, None where this host cannot tell."""

    def info(self) -> EngineInfo:
        """Version and abilities."""

    def image(self, reference: str) -> ImageInfo | None:
        """The image with this tag or id, None where there is none."""

    def images(self, label: str) -> list[ImageInfo]:
        """All images that carry a label (`key` or `key=value`)."""

    def pull(self, reference: str) -> ImageInfo:
        """Fetch an image from its registry; ImageError where none answers or has it."""

    def bridged(self) -> bool:
        """Whether it has a network of its own that leads out, which a build can have."""

    def build(
        self,
        context: Path,
        *,
        tag: str,
        labels: Mapping[str, str],
        network: str,
        on_line: Callable[[str], None],
        arguments: Mapping[str, str] = NOTHING,
    ) -> ImageInfo:
        """Build a folder that holds a Dockerfile; each line that is printed goes to `on_line`.

        `network` is `none`, `bridge` or `host`. `arguments` are the Dockerfile's, or proxies, which
        the engine keeps out of the image. ImageError where a step fails or the disk is full.
        """

    def import_image(self, archive: Path, *, tag: str, labels: Mapping[str, str]) -> ImageInfo:
        """Make an image of a tar archive of a root file system."""

    def save(self, reference: str, target: Path) -> None:
        """Write an image, all layers included, as a tar archive."""

    def load(self, archive: Path, *, tag: str) -> ImageInfo:
        """Add the image of this tag that `save` wrote; ImageError where that cannot be."""

    def remove_image(self, reference: str) -> None:
        """Remove an image; no error where it is gone."""

    def start(self, spec: SessionSpec) -> Session:
        """Start a container and return once its supervisor has answered."""

    def containers(self, label: str) -> list[ContainerInfo]:
        """All containers that carry a label, those that have stopped too."""

    def remove_container(self, container: str) -> None:
        """Kill and remove a container; no error where it is gone."""

    def close(self) -> None:
        """Release connections; containers stay as they are."""
