"""What is mounted in a container: what is the engine's own, and what can be written besides."""

import re
from dataclasses import dataclass

from sandbox.container.engines.base import RESERVED, SUDO, Session

ENGINE_FILES = frozenset(
    (
        b"/",
        b"/.dockerenv",
        b"/etc/hostname",
        b"/etc/hosts",
        b"/etc/resolv.conf",
        SUDO.encode(),
    )
)
"""Put into each container by the engine, or for it."""

KERNEL_TYPES = frozenset((b"proc", b"sysfs", b"devpts", b"cgroup", b"cgroup2", b"overlay"))
"""File systems that hold no files of anybody's, and the root that is looked at anyway."""

_RESERVED = RESERVED.encode()

OWN_FOLDERS = (b"/proc/", b"/sys/", _RESERVED + b"/")
"""Below these, what is mounted is the engine's, and ours."""


@dataclass(frozen=True, slots=True)
class Mounts:
    """The mounts of a session as they were at its start, before an agent ran."""

    targets: frozenset[bytes]
    volatile: tuple[bytes, ...]
    """File systems that can be written and that no image holds, such as /dev/shm."""

    def excluded(self, path: bytes) -> bool:
        """Whether an absolute path is the engine's or ours, so no part of the change set."""
        return (
            path in self.targets
            or path in ENGINE_FILES
            or path == _RESERVED
            or path.startswith(_RESERVED + b"/")
        )


def mounts(session: Session) -> Mounts:
    """Read a session's mount table; a scripted session has none."""
    targets = set()
    volatile = []
    try:
        table = session.read("/proc/1/mounts")
    except FileNotFoundError:
        table = b""
    for line in table.splitlines():
        _, escaped, kind, options, *_ = line.split(b" ")
        target = re.sub(rb"\\([0-7]{3})", lambda octal: bytes([int(octal[1], 8)]), escaped)
        targets.add(target)
        own = target in ENGINE_FILES or target.startswith(OWN_FOLDERS)
        if b"rw" in options.split(b",") and kind not in KERNEL_TYPES and not own:
            volatile.append(target)
    return Mounts(frozenset(targets), tuple(sorted(set(volatile))))
