"""The supervisor as a static binary: carried by an installed package, else compiled here.

It is compiled once for each state of its sources, by ziglang, which a package has no need of.
"""

import contextlib
import functools
import hashlib
import importlib.util
import os
import secrets
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from sandbox.model import places
from sandbox.model.architecture import kernel_name
from sandbox.model.errors import SandboxError, UsageError

SOURCE = Path(__file__).parent / "source"
CARRIED = Path(__file__).parent / "built"
"""Where a package has binaries, each named after its architecture and its sources."""
FLAGS = (
    *("-static", "-O2", "-s", "-std=c11", "-D_GNU_SOURCE"),
    *("-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"),
)
ARCHITECTURES = ("x86_64", "aarch64")
LAST_LINES = 20


class BuildError(SandboxError):
    """The supervisor could not be compiled; the message ends with the compiler's last lines."""


def binary(architecture: str) -> Path:
    """The supervisor for an architecture, compiled if neither package nor cache has it.

    Takes the names of the kernel (`x86_64`, `aarch64`) and of Docker (`amd64`, `arm64`).
    Several processes may ask at once. Raises BuildError, UsageError for another architecture.
    """
    name = kernel_name(architecture)
    if name not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        raise UsageError(f"There is no supervisor for {architecture!r}.", f"There is for: {known}.")
    carried = CARRIED / carried_name(name)
    if carried.exists():
        return carried
    if not has_compiler():
        raise BuildError(
            "The supervisor has to be compiled, and ziglang is not installed.",
            "Install it beside this package: pip install 'sandbox[development]'.",
        )
    folder = places.cache().absolute() / "supervisor"
    built = folder / f"supervisor-{name}-{_digest(_ziglang())}"
    if not built.exists():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            compile_to(built, name)
        except OSError as error:
            raise BuildError(
                f"The supervisor could not be built: {error}.",
                f"Make {folder} writable, or set SANDBOX_CACHE to another folder.",
            ) from error
    return built


def has_compiler() -> bool:
    """Whether ziglang is installed."""
    return importlib.util.find_spec("ziglang") is not None


def carried_name(architecture: str) -> str:
    """What a package calls its binary for an architecture, by the kernel's name for that."""
    return f"supervisor-{architecture}-{_digest()}"


def _digest(compiler: str = "") -> str:
    """What the binary depends on: flags, compiler and sources."""
    with os.scandir(SOURCE) as entries:
        found = [(each.path, each.stat()) for each in entries]
    # Read again only where a file has changed: each container's start asks.
    state = tuple(sorted((path, stat.st_mtime_ns, stat.st_size) for path, stat in found))
    return _digest_of((*FLAGS, compiler), state)


@functools.lru_cache(maxsize=8)
def _digest_of(parts: tuple[str, ...], state: tuple[tuple[str, int, int], ...]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() + b"\0")
    for path in (Path(path) for path, _, _ in state):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


@functools.cache
def _ziglang() -> str:
    return version("ziglang")


def compile_to(target: Path, architecture: str) -> None:
    """Compile the supervisor for an architecture to a file, whole or not at all."""
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    zig = target.parent / "zig"
    environment = os.environ | {
        "ZIG_GLOBAL_CACHE_DIR": str(zig),
        "ZIG_LOCAL_CACHE_DIR": str(zig),
    }
    command = [sys.executable, "-m", "ziglang", "cc", "-target", f"{architecture}-linux-musl"]
    sources = [str(path) for path in sorted(SOURCE.glob("*.c"))]
    try:
        done = subprocess.run(
            [*command, *FLAGS, "-o", str(temporary), *sources],
            env=environment,
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            lines = done.stderr.decode(errors="replace").splitlines()[-LAST_LINES:]
            raise BuildError(
                "The supervisor could not be compiled:\n" + "\n".join(lines),
                "Check the changes to sandbox/container/supervisor/source, or reinstall ziglang.",
            )
        temporary.chmod(0o755)
        temporary.replace(target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
