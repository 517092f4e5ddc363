"""A virtual machine of QEMU, reached by ssh through a port of this machine's loopback."""

import os
import shlex
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import socket

from tests.machine.image import Image, Settings

BOOT_SECONDS = 600.0
PROBE_SECONDS = 20
BY_KVM = ("-accel", "kvm", "-cpu", "host", "-smp", str(os.cpu_count() or 1))
# One processor: with two, QEMU 7.2 runs into code that the guest's kernel is just changing.
BY_EMULATION = ("-accel", "tcg", "-cpu", "max", "-smp", "1")


@dataclass(frozen=True, slots=True)
class Machine:
    """One that runs."""

    key: Path
    port: int

    def command(self, user: str, line: str) -> list[str]:
        """Give the command that runs a shell's line in it."""
        options = {
            "StrictHostKeyChecking": "no",
            "UserKnownHostsFile": "/dev/null",
            "LogLevel": "ERROR",
            "ConnectTimeout": str(PROBE_SECONDS),
            "ServerAliveInterval": "30",
        }
        given = [f"-o{name}={value}" for name, value in options.items()]
        return ["ssh", *given, "-i", str(self.key), "-p", str(self.port), f"{user}@127.0.0.1", line]

    def run(self, user: str, *argv: str, given: bytes | None = None) -> int:
        """Run a program, whose output is shown, and return its exit code."""
        line = shlex.join(argv)
        return subprocess.run(self.command(user, line), input=given, check=False).returncode

    def check(self, user: str, line: str, given: bytes | None = None) -> None:
        """Run a shell's line that must not fail."""
        if subprocess.run(self.command(user, line), input=given, check=False).returncode:
            raise SystemExit(f"In the machine this failed: {line}")


@contextmanager
def running(image: Image, settings: Settings) -> Iterator[Machine]:
    """Boot it on a copy of its disk, and give it up at the end."""
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        machine = Machine(image.key, probe.getsockname()[1])
    overlay = image.folder / f"overlay-{os.getpid()}"
    create = ("qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", image.disk, overlay)
    subprocess.run(create, check=True)
    process = None
    try:
        for means in (BY_KVM, BY_EMULATION):
            process = _begin(image, settings, overlay, machine.port, means)
            if _is_up(machine, process):
                break
        else:
            raise SystemExit(f"The machine did not come up; see {image.console}.")
        yield machine
    finally:
        if process is not None:
            process.kill()
            process.wait()
        overlay.unlink(missing_ok=True)


def _begin(
    image: Image, settings: Settings, disk: Path, port: int, means: Sequence[str]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        (
            "qemu-system-x86_64", "-machine", "q35", *means,
            "-m", str(settings.memory_mb),
            "-kernel", image.folder / "vmlinuz", "-initrd", image.folder / "initrd.img",
            "-append", "root=/dev/vda rw console=ttyS0 net.ifnames=0 mitigations=off",
            "-drive", f"file={disk},format=qcow2,if=virtio,cache=unsafe",
            # Nothing of it reaches out, and only this machine reaches in.
            "-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22",
            "-device", "virtio-net-pci,netdev=net", "-device", "virtio-rng-pci",
            "-display", "none", "-monitor", "none", "-serial", f"file:{image.console}",
        ),
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def _is_up(machine: Machine, process: subprocess.Popen[bytes]) -> bool:
    """Wait for it; False where QEMU cannot go on, as without KVM, or nobody answers."""
    give_up = time.monotonic() + BOOT_SECONDS
    while time.monotonic() < give_up and process.poll() is None:
        tried = subprocess.run(machine.command("root", "true"), check=False, capture_output=True)
        if tried.returncode == 0:
            return True
        time.sleep(2)
    process.kill()
    return False
