"""What root may try against the supervisor and its shim; prints what was not refused.

Run in a container by test_root_in_container.py.
"""
# ruff: noqa: T201 - it speaks to that test

import ctypes
import os
import resource
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

SHIM = os.getppid()
PRIVATE = 65533
SEIZE, DETACH = 0x4206, 2
PROCESS_VM_WRITEV = {"x86_64": 311, "aarch64": 271}[os.uname().machine]
PIDFD_OPEN, PIDFD_GETFD = 434, 438

library = ctypes.CDLL(None, use_errno=True)


def call(function: Callable[..., int], *arguments: object) -> int:
    result = function(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


def change(path: str) -> None:
    with Path(path).open("r+b", buffering=0) as file:
        file.write(b"1")


def look(path: str) -> None:
    with Path(path).open("rb", buffering=0) as file:
        file.read(1)


def steal(pid: int) -> None:
    handle = call(library.syscall, PIDFD_OPEN, pid, 0)
    call(library.syscall, PIDFD_GETFD, handle, 1, 0)


def overwrite(pid: int) -> None:
    parts = ctypes.byref((ctypes.c_ulong * 2)(0, 1))
    call(library.syscall, PROCESS_VM_WRITEV, pid, parts, 1, parts, 1, 0)


def read_as_it() -> None:
    library.setfsuid(PRIVATE)
    look("/proc/1/mem")


def limit(pid: int) -> None:
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (0, 0))


ATTACKS: dict[str, Callable[[], object]] = {
    "user": partial(os.setuid, PRIVATE),
    "real user": partial(os.setreuid, PRIVATE, -1),
    "effective user": partial(os.setreuid, -1, PRIVATE),
    "first of three users": partial(os.setresuid, PRIVATE, -1, -1),
    "second of three users": partial(os.setresuid, -1, PRIVATE, -1),
    "third of three users": partial(os.setresuid, -1, -1, PRIVATE),
    "user of files": read_as_it,
    "supervisor": partial(change, "/.sandbox/supervisor"),
    "another supervisor": partial(os.rename, "/.sandbox/supervisor", "/.sandbox/other"),
    "transport": partial(change, "/.sandbox/control/socket"),
    "its folder": partial(Path("/.sandbox/control/new").write_text, "x"),
    "sudo": partial(os.unlink, "/usr/bin/sudo"),
    "mount": partial(call, library.umount2, b"/usr/bin/sudo", 2),
    "control group": partial(change, "/sys/fs/cgroup/pids/pids.max"),
    "kernel": partial(change, "/proc/sys/kernel/core_pattern"),
    "device": partial(os.mknod, "/tmp/disk", 0o60600, os.makedev(8, 0)),
    "another root": partial(os.chroot, "/tmp"),
}
for pid in (1, SHIM):
    for name in ("KILL", "STOP", "TERM", "USR1", "USR2", "CONT"):
        ATTACKS[f"{name} {pid}"] = partial(os.kill, pid, getattr(signal, f"SIG{name}"))
    ATTACKS |= {
        f"limit {pid}": partial(limit, pid),
        f"trace {pid}": partial(call, library.ptrace, SEIZE, pid, 0, 0),
        f"memory {pid}": partial(look, f"/proc/{pid}/mem"),
        f"writing {pid}": partial(overwrite, pid),
        f"environment {pid}": partial(look, f"/proc/{pid}/environ"),
        f"descriptor {pid}": partial(look, f"/proc/{pid}/fd/1"),
        f"stealing {pid}": partial(steal, pid),
        f"program {pid}": partial(os.readlink, f"/proc/{pid}/exe"),
        f"priority {pid}": partial(os.setpriority, os.PRIO_PROCESS, pid, 19),
        f"processors {pid}": partial(os.sched_setaffinity, pid, {0}),
    }

for what, attack in ATTACKS.items():
    try:
        attack()
    except OSError:
        continue
    print(what)
print("over")
