"""What a session takes and gives: commands, their results, files. Values, never stored.

Paths and arguments are bytes where the container decides them and may hold anything but NUL.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from errno import EPERM
from typing import Literal

from sandbox.model.coverage import Coverage

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class User:
    """A user of the container by number."""

    uid: int
    gid: int


ROOT = User(0, 0)
AGENT = User(10001, 10001)
Interception = Literal["off", "log", "hold"]
"""Whether the execs of a command are seen, or held until they are decided on."""

Wanted = Callable[[bytes, bytes], bool]
"""Says of a path and its record in a manifest whether it is wanted."""

EXECS_TOLD = 10_000
"""Execs of one command that are told; the rest is counted."""

HOME = "/home/agent"
"""The agent's home; worktrees lie in it."""

WRITABLE = (f"{HOME}/", "/tmp/", "/var/tmp/", "/dev/", "/proc/", "/run/")  # noqa: S108
"""Folders of the container in which any user, or the agent, may put a program, or a way to one."""


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run in the container, without a shell."""

    argv: tuple[str | bytes, ...]
    cwd: str | bytes = "/"
    environment: dict[str, str] = field(default_factory=dict)
    """The whole environment; nothing is inherited."""
    user: User = AGENT
    stdin: bytes = b""
    """Written to standard input, which is then closed."""
    timeout: float | None = None
    """Seconds until the whole process tree is killed; None waits for ever."""
    stdout_limit: int = MEBIBYTE
    """Bytes kept; the rest is counted and thrown away."""
    stderr_limit: int = MEBIBYTE
    kill_survivors: bool = False
    """Whether processes that outlive the command are killed with it."""
    interception: Interception = "off"
    """Whether its execs, and those of all that it starts, go to the session's observer.

    Where the greeting has no `exec_log` (for `hold`: `exec_hold`), only its own program does.
    """
    tag: str = ""
    """Comes back with each exec of the command; the container never sees it."""
    execs_told: int = EXECS_TOLD
    """Execs beyond are counted; those that are held are told all the same."""


@dataclass(frozen=True, slots=True)
class Completed:
    """How a command ended."""

    exit_code: int | None
    """None where a signal ended it or it could not be started."""
    signal: int | None
    stdout: bytes
    stderr: bytes
    stdout_bytes: int
    """All that was printed, the part beyond the limit included."""
    stderr_bytes: int
    duration: float
    """Seconds from the start to the end of the command itself."""
    timed_out: bool
    killed: bool
    """Whether it was ended on request, by `kill` or `kill_all`."""
    survivors: int
    """Processes of its tree that were alive when it ended (killed if asked to)."""
    user_seconds: float
    system_seconds: float
    peak_bytes: int
    """Largest resident set among its processes."""
    out_of_memory: bool
    """Whether the kernel killed a process of the container for memory while it ran."""
    cleared: int = 0
    """Processes of earlier commands that had to be killed before it could start."""
    ended: int = 0
    """Processes that outlived it and were killed with it, which `survivors` then counts no more."""


@dataclass(frozen=True, slots=True)
class Exec:
    """A program that is about to run, or one that was refused because it could not be looked at."""

    number: int
    """Counts up in a session; 0 where only the top level is seen."""
    tag: str
    """The command's."""
    program: bytes
    """As it was given; `/dev/fd/N` where it was given by a descriptor."""
    resolved: bytes
    """The file behind it, absolute, all links followed; empty where that is not known."""
    arguments: tuple[bytes, ...]
    """The first ones, where there are too many; the last may be cut."""
    argument_count: int
    truncated: bool
    cwd: bytes
    pid: int
    parent: int
    uid: int
    held: bool
    """Whether it waits for an answer."""
    first: bool
    """Whether it is the command's own program."""
    environment: tuple[bytes, ...] = ()
    """`NAME=value` of variables that make a program run other code, or less, than its words say, or
    in another repository; of the command's own program none, for its environment is the host's."""
    environment_truncated: bool = False
    """Whether there is more of these than is told."""
    privileged: bool = False
    """Whether it is to be root: asked for by the program `sudo`, which is its parent here."""
    problem: int = 0
    """The errno with which it was refused because it could not be looked at; then it has no end."""


class ExecOutcome(StrEnum):
    """What became of an exec."""

    EXITED = "exited"
    UNKNOWN = "unknown"
    """It ended without a code: by a signal, of a kernel that does not tell which."""
    REPLACED = "replaced"
    """Its process runs another program now, or tried to."""
    FAILED = "failed"
    """It was allowed, and the kernel refused it."""
    REFUSED = "refused"
    MISMATCH = "mismatch"
    """Something else ran than what was allowed, and was killed before it could do anything."""
    GONE = "gone"
    """Its process ended before it was decided on."""


@dataclass(frozen=True, slots=True)
class ExecEnd:
    """The end of an exec."""

    outcome: ExecOutcome
    exit_code: int | None
    signal: int | None
    seconds: float
    """From the moment it was let run, or asked for, to its end."""


class TouchKind(StrEnum):
    """What has happened to a watched path."""

    FILE = "file"
    """Something that is no folder stands there, perhaps what stood there before."""
    GONE = "gone"
    """Nothing stands there, nor below it where it was a folder."""
    READ = "read"
    LOST = "lost"
    """More has happened than was told."""


@dataclass(frozen=True, slots=True)
class WatchedFiles:
    """Of which files an observer is told what happens to them."""

    roots: Sequence[str]
    """Folders, with all that lies below them."""
    excluding: Sequence[str] = ()
    """Absolute paths, or names without a slash wherever they stand."""
    reading: Sequence[str] = ()
    """Files of which it is told as well when somebody reads them."""
    within: Sequence[str] = ()
    """Folders of which nothing counts but the paths `only`, what lies below them, and files and
    links on the way to them."""
    only: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Touch:
    """Something that has happened to a watched path, and what it holds then."""

    kind: TouchKind
    path: bytes
    """Absolute; empty where events were lost."""
    mode: int = 0
    """Kind and permission bits, as in st_mode."""
    digest: str = ""
    """SHA-256 of a regular file or of a link's target; empty where it is too large to be read."""
    head: bytes = b""
    """The whole of a regular file of at most 64 bytes."""
    changed_ns: int = 0
    """When its status was changed last, as stat(2) says it, before it was looked into."""


class ExecObserver:
    """Who is told of execs and of what happens to watched files, one at a time and in order.

    A base that lets everything run.

    The methods are called in a thread of the session's own. They may ask for files, and must not
    run commands that are intercepted. What they raise ends the session.
    """

    def seen(self, execution: Exec) -> int:
        """An exec: 0 lets it run, an errno refuses it; only the answer to a held one counts.

        One that is privileged is always held.
        """
        return EPERM if execution.privileged else 0

    def reason(self, execution: Exec) -> str:  # noqa: ARG002
        """Why one that is privileged was just refused; `sudo` prints it."""
        return ""

    def ended(self, execution: Exec, end: ExecEnd) -> None:
        """An exec has ended, after it was seen."""

    def touched(self, touch: Touch) -> None:
        """Something has happened to a watched path, before the next exec that is told."""

    def lost(self, tag: str, count: int, *, unseen: bool = False) -> None:
        """So many more execs of a command were not told, for there were too many.

        With `unseen`, for nobody knows why: the supervisor has lost sight of them.
        """


class FileKind(StrEnum):
    """The kinds of things a directory holds."""

    FILE = "file"
    DIRECTORY = "directory"
    SYMLINK = "symlink"
    SOCKET = "socket"
    FIFO = "fifo"
    CHARACTER_DEVICE = "character_device"
    BLOCK_DEVICE = "block_device"


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One entry of a manifest or a listing, not followed where it is a link."""

    path: bytes
    """Absolute in a manifest, a bare name in a listing."""
    kind: FileKind
    mode: int
    """Permission bits, set-id and sticky included."""
    uid: int
    gid: int
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    links: int
    target: bytes = b""
    """Where a symbolic link points."""
    digest: str = ""
    """SHA-256 in hexadecimal of a regular file, where it was asked for."""
    problem: int = 0
    """The errno that kept a walk from entering a directory or reading a file, 0 for none."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What the container has used since its start, as its control group counts."""

    memory_peak_bytes: int | None
    cpu_seconds: float | None
    processes: int
    """Alive now, the supervisor not counted."""
    out_of_memory_kills: int


@dataclass(frozen=True, slots=True)
class DiskUse:
    """What the container has taken of its engine's disk, as far as this host can tell."""

    bytes: int | None
    """Of all that it has written and not removed."""
    files: int | None
    """Files and folders among it."""
    free_bytes: int | None
    """What is left there for everybody."""


@dataclass(frozen=True, slots=True)
class Greeting:
    """What the supervisor says first."""

    protocol: int
    architecture: str
    kernel: str
    features: frozenset[str]
    """What works in this container, e.g. `openat2`, `cgroup1`, `cgroup2`."""

    def coverage(self, interception: Interception) -> Coverage:
        """What is seen of a command that is intercepted so."""
        if f"exec_{interception}" in self.features:
            return "exec"
        return "ptrace" if "exec_trace" in self.features else "top-level"
