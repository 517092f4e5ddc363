"""The C code that reads what others wrote, under libFuzzer with sanitizers, for a bounded time.

`frames` is what the host sends, `arguments` the memory of a process that asks for an exec and the
head of the file that it names. CONTRIBUTING.md says how to look for longer.
"""

import contextlib
import os
import re
import shutil
import socket
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sandbox.container.supervisor import compiler, protocol
from sandbox.container.supervisor.client import Supervisor
from sandbox.container.supervisor.protocol import Request
from sandbox.model.session import Command
from tests.sandbox.container.supervisor.local import ENVIRONMENT, SELF
from tests.sandbox.container.supervisor.streams import SocketStream

FUZZ = Path(__file__).parent / "fuzz"
SECONDS = int(os.environ.get("SANDBOX_FUZZ_SECONDS", "1"))
CLANG = ("-g", "-O1", "-std=gnu11", "-D_GNU_SOURCE", "-fno-sanitize-recover=all")
UNITS = {"frames": {"main.c", "frame.c", "forward.c"}, "arguments": {"main.c"}}
"""The sources that each harness brings itself."""
LONGEST = 8192
"""Bytes of an input."""


@pytest.fixture(scope="module")
def clang() -> str:
    """`make test` installs it where it can."""
    for name in ("clang", "clang-14", "clang-18", "clang-19"):
        if found := shutil.which(name):
            return found
    if os.environ.get("CI"):
        pytest.fail("clang with libFuzzer is not installed, and .ci/fuzzer should have done that")
    pytest.skip("clang with libFuzzer is not installed; .ci/fuzzer does that as root")


def compiled(clang: str, name: str, folder: Path, *flags: str) -> Path:
    sources = [path for path in compiler.SOURCE.glob("*.c") if path.name not in UNITS[name]]
    program = folder / name
    command: list[str | Path] = [clang, *CLANG, "-fsanitize=fuzzer,address,undefined", *flags]
    places: list[str | Path] = [
        "-iquote",
        compiler.SOURCE,
        "-o",
        program,
        FUZZ / f"{name}.c",
        *sources,
    ]
    done = subprocess.run([*command, *places], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return program


class Recorded(SocketStream):
    """A stream that keeps what is sent."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(connection)
        self.sent: list[bytes] = []

    def send(self, data: bytes) -> None:
        self.sent.append(data)
        super().send(data)


def frames(binary: Path) -> list[bytes]:
    """A frame of every kind, as the real client writes it to a real supervisor."""
    ours, theirs = socket.socketpair()
    number = theirs.fileno()
    with contextlib.ExitStack() as stack:
        stack.enter_context(subprocess.Popen([binary, "--stdio"], stdin=number, stdout=number))
        theirs.close()
        stream = Recorded(ours)
        supervisor = Supervisor(stream, 60)
        stack.callback(supervisor.close)
        options: dict[str, Any] = {"environment": ENVIRONMENT, "user": SELF}
        for command in (
            Command(("true", "x"), **options),
            Command(("cat",), stdin=b"x" * 70, stdout_limit=5, timeout=9, **options),
            Command(("true",), interception="log", kill_survivors=True, **options),
            Command(("true",), interception="hold", execs_told=3, **options),
        ):
            with contextlib.suppress(PermissionError):  # what is held is refused: nobody decides
                supervisor.run(command)
        supervisor.start(Command(("sleep", "60"), **options)).kill()
        with contextlib.suppress(OSError):
            supervisor.write("new/file", b"x" * 30, beneath="/none", parents=True, user=SELF)
        for path in ("/folder/file", "/folder/link", "/folder"):
            for ask in (supervisor.read, supervisor.list, supervisor.stat, supervisor.remove):
                with contextlib.suppress(OSError):
                    ask(path)
        supervisor.manifest(["/none", "/folder"], excluding=["/folder/deep"], digest=True)
        supervisor.usage()
        supervisor.kill_all()
    more = [protocol.frame(kind, 7, b"xyz") for kind in (Request.STDIN, Request.WRITE_DATA)]
    return [*stream.sent, *more, b"".join(stream.sent)[:LONGEST], visit()]


def visit() -> bytes:
    """A listener, and what the host says to its first client; the padding lets that one speak."""
    one = struct.pack("<I", 1)
    padding = protocol.frame(Request.STDIN, 9, bytes(100))
    said = (
        (Request.LISTEN, bytes(4)),
        (Request.STREAM_DATA, one + b"answer"),
        (Request.STREAM_TAKEN, one + struct.pack("<I", 4)),
        (Request.STREAM_CLOSE, one),
        (Request.UNLISTEN, b""),
    )
    return b"".join(protocol.frame(kind, 7, payload) + padding for kind, payload in said)


def memories() -> list[bytes]:
    """How, number of pointers, name, size of the file; pointers; the file; the memory."""
    file = b"#!/bin/sh -e\n" + bytes(3)
    text = b"/bin/true\0one\0two\0"
    at = 16384 - len(text)
    pointers = struct.pack("<3H", at, at + 10, at + 14)
    return [
        struct.pack("<BBHH", how, 3 | 0x40, at, len(file)) + pointers + file + text
        for how in range(16)
    ]


@pytest.mark.slow
def test_the_reader_of_frames(clang: str, binary: Path, tmp_path: Path) -> None:
    jail = tmp_path / "jail"
    (jail / "folder" / "deep").mkdir(parents=True)
    (jail / "folder" / "file").write_bytes(b"content")
    (jail / "folder" / "link").symlink_to("file")
    sow(jail, frames(binary))
    survives(compiled(clang, "frames", tmp_path), jail, "/corpus", edges=400)


@pytest.mark.slow
def test_the_reader_of_arguments(clang: str, tmp_path: Path) -> None:
    place = tmp_path / "place"
    sow(place, memories())
    survives(compiled(clang, "arguments", tmp_path), place, "corpus", edges=150)


def sow(folder: Path, seeds: list[bytes]) -> None:
    (folder / "corpus").mkdir(parents=True)
    for number, seed in enumerate(seeds):
        (folder / "corpus" / f"seed-{number}").write_bytes(seed)


def survives(program: Path, folder: Path, corpus: str, *, edges: int) -> None:
    """Runs until the time is over; `edges` must be reached, else it looks at nothing."""
    done = subprocess.run(
        [
            program,
            f"-max_total_time={SECONDS}",
            f"-max_len={LONGEST}",
            "-timeout=20",
            "-print_final_stats=1",
            corpus,
        ],
        cwd=folder,
        env={"ASAN_OPTIONS": "detect_leaks=0:symbolize=0"},
        capture_output=True,
        check=False,
    )
    said = done.stderr.decode(errors="replace")
    bad = [path.read_bytes() for path in folder.glob("*-*") if path.is_file()]
    assert done.returncode == 0, f"{said[-4000:]}\nthe input: {bad}"
    assert int(re.findall(r"cov: (\d+)", said)[-1]) >= edges


@pytest.mark.slow
@pytest.mark.parametrize("name", ["frames", "arguments"])
def test_a_fault_would_be_found(clang: str, binary: Path, tmp_path: Path, name: str) -> None:
    """The first input that is understood ends the harness, when it is built so."""
    sow(tmp_path, frames(binary) if name == "frames" else memories())
    program = compiled(clang, name, tmp_path, "-DFAULT")
    corpus = {"frames": "/corpus", "arguments": "corpus"}[name]
    with pytest.raises(AssertionError, match="deadly signal"):
        survives(program, tmp_path, corpus, edges=0)
