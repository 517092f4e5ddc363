"""The filter that all commands inherit is set, or there is no supervisor."""

import ctypes
import platform
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

NUMBERS = {"x86_64": (157, 317), "aarch64": (167, 277)}
"""By architecture: prctl and seccomp."""
SET_SECCOMP, NO_NEW_PRIVILEGES, MODE_FILTER = 22, 38, 1
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
REFUSE, ALLOW = 0x0005_0001, 0x7FFF_0000
"""EPERM, and nothing: linux/seccomp.h."""


class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def without_filters_by_prctl() -> None:
    """Refuse `prctl(PR_SET_SECCOMP)` from here on; that there are filters can still be seen."""
    prctl, seccomp = NUMBERS[platform.machine()]
    steps = (
        (LOAD, 0, 0, 0),  # the number of the call
        (EQUAL, 0, 3, prctl),
        (LOAD, 0, 0, 16),  # its first argument
        (EQUAL, 0, 1, SET_SECCOMP),
        (RETURN, 0, 0, REFUSE),
        (RETURN, 0, 0, ALLOW),
    )
    code = b"".join(struct.pack("HBBI", *step) for step in steps)
    kept = ctypes.create_string_buffer(code, len(code))
    program = Program(len(steps), ctypes.cast(kept, ctypes.c_void_p))
    library = ctypes.CDLL(None)
    library.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if library.syscall(seccomp, MODE_FILTER, 0, ctypes.byref(program)):
        raise OSError("the filter of this test cannot be set")


@pytest.mark.parametrize(
    ("prepare", "status", "greets"),
    [(lambda: None, 0, True), (without_filters_by_prctl, 2, False)],
)
def test_where_commands_cannot_be_confined_nothing_runs(
    binary: Path, prepare: Callable[[], None], status: int, *, greets: bool
) -> None:
    done = subprocess.run(
        [binary, "--stdio"],
        input=b"",
        capture_output=True,
        preexec_fn=prepare,
        timeout=60,
        check=False,
    )
    assert (done.returncode, bool(done.stdout)) == (status, greets)
