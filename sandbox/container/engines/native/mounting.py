"""Programs that find an overlay mounted, in a mount name space of their own.

The mount is gone with the last process in the name space, whatever became of whoever made it.
The name space is made by a thread of ours that ends with it: to leave it to other programs
(unshare, mount) takes ten times as long.
"""

import ctypes
import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from typing import IO

from sandbox.container.engines.native import user_name_space
from sandbox.model.errors import EngineError

CLONE_NEWNS = 0x00020000
MS_REC, MS_PRIVATE = 1 << 14, 1 << 18
MNT_DETACH = 2
LONGEST_OPTIONS = 4000
"""Bytes of a mount's options that the kernel takes, a page less a little (mount(2))."""
SECOND_HIERARCHY = Path("/sys/fs/cgroup/unified")
"""crun refuses control groups of both versions beside each other; it is shown the first alone."""

_libc = ctypes.CDLL(None, use_errno=True)


def overlay(lower: Sequence[Path], folder: Path) -> str:
    """The options of the mount that lays `folder`/upper over layers, the topmost first."""
    layers = ":".join(map(str, lower))
    within = "userxattr," if user_name_space.is_within() else ""
    options = f"{within}index=off,lowerdir={layers},upperdir={folder}/upper,workdir={folder}/work"
    if len(options.encode()) > LONGEST_OPTIONS:
        raise EngineError(
            f"An image of {len(lower)} layers is too much for one mount of this kernel.",
            "Put the cache where its path is shorter (SANDBOX_CACHE), or use fewer layers.",
        )
    return options


def start(
    command: Sequence[str],
    root: Path,
    options: str | None,
    *,
    stdin: IO[bytes] | int = subprocess.DEVNULL,
    stdout: IO[bytes] | int = subprocess.DEVNULL,
    stderr: IO[bytes] | int = subprocess.DEVNULL,
) -> "subprocess.Popen[bytes]":
    """Start a command that finds an overlay mounted at `root`, and nobody else does.

    Without options nothing is mounted. A Ctrl-C of the terminal is not meant for it. EngineError
    where this machine does not let file systems be mounted.
    """
    started: Future[subprocess.Popen[bytes]] = Future()

    def work() -> None:
        try:
            _mount(root, options)
            started.set_result(
                subprocess.Popen(
                    command, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True
                )
            )
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            started.set_exception(error)

    thread = Thread(target=work, daemon=True, name="mounting")
    thread.start()
    try:
        return started.result()
    except OSError as error:
        raise EngineError(
            f"The native engine cannot mount an overlay at {root}: {error.strerror}.",
            "Be root on a machine, or in a container, that may mount; or use a Docker engine.",
        ) from error


def _mount(root: Path, options: str | None) -> None:
    """Leave the name space of the process, for this thread alone, and mount there."""
    _call(_libc.unshare, CLONE_NEWNS)
    _call(_libc.mount, None, b"/", None, MS_REC | MS_PRIVATE, None)
    if SECOND_HIERARCHY.is_mount():
        _call(_libc.umount2, os.fsencode(SECOND_HIERARCHY), MNT_DETACH)
    if options is not None:
        target = os.fsencode(root)
        _call(_libc.mount, b"overlay", target, b"overlay", 0, os.fsencode(options))


def _call(function: "ctypes._NamedFuncPointer", *arguments: bytes | int | None) -> None:
    """Call the C library; OSError where the kernel refuses."""
    pointers = [
        ctypes.c_char_p(each) if isinstance(each, bytes) or each is None else ctypes.c_ulong(each)
        for each in arguments
    ]
    if function(*pointers):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
