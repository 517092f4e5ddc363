"""What this machine has and lacks, for `sandbox doctor`."""

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sandbox.container.engines import control_groups, find
from sandbox.container.engines.base import MANAGED, Engine, EngineInfo, SessionSpec
from sandbox.container.engines.interception import VARIABLE, allowed
from sandbox.container.engines.runtimes import VARIABLE as RUNTIME
from sandbox.container.engines.runtimes import Runtime
from sandbox.container.supervisor import compiler
from sandbox.model import places
from sandbox.model.coverage import Coverage
from sandbox.model.errors import EngineError, SandboxError, UsageError
from sandbox.model.session import Greeting

GIBIBYTE = 1 << 30
LITTLE_SPACE = 5 * GIBIBYTE
NO_SPACE = GIBIBYTE
TRIED = 3
"""Images of which a container is started before that is given up."""
OLDEST_PYTHON = (3, 11)
SEES_EXECS, HOLDS_EXECS, TELLS_ENDS = (5, 9), (5, 19), (6, 15)
"""Kernels since which a listener sees execs, can hold them, and processes' ends are told."""
SECCOMP_ACTIONS = Path("/proc/sys/kernel/seccomp/actions_avail")


class State(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    state: State
    found: str
    mend: str = ""
    """What a person does about it."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All checks, in the order in which to mend."""

    checks: tuple[Check, ...]


def examine() -> Diagnosis:
    """Look at everything; nothing is changed, and a check that fails is a result."""
    return Diagnosis((_python(), *_engine_checks(), *_tools()))


def _engine_checks() -> Iterator[Check]:
    try:
        engine = find.connect()
    except EngineError as error:
        yield Check("engine", State.BAD, error.message, error.next_step)
        yield _mounted_groups()
        yield from _space(None)
        return
    try:
        info = engine.info()
        coverage = _interception(engine, info)
    finally:
        engine.close()
    place = "this host" if info.local else "another host"
    yield Check(
        "engine",
        State.OK,
        f"{info.name} {info.version}, API {info.api}, {info.endpoint}, on {place}",
    )
    yield _containers(info)
    yield _storage(info)
    yield _changes(info)
    yield Check("control groups", State.OK, f"version {info.control_groups}")
    yield from _kernel(info)
    yield coverage
    yield from _space(info)


def _python() -> Check:
    found = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info >= OLDEST_PYTHON:
        return Check("python", State.OK, found)
    return Check("python", State.BAD, found, "Install Python 3.11 or newer, then `make setup`.")


def _mounted_groups() -> Check:
    if control_groups.is_mounted():
        return Check("control groups", State.OK, "mounted")
    return Check(
        "control groups", State.BAD, "none are mounted", "As root: `sandbox doctor --mend`."
    )


def _containers(info: EngineInfo) -> Check:
    """What stands between the agent and this host; docs/isolation.md lists what is tried."""
    if info.name == "native":
        as_whom = "root of a user name space" if info.rootless else "root"
        found = f"{info.runtime}, no daemon, as {as_whom}, no network"
        return Check("isolation", State.OK, found)
    engine = "rootless" if info.rootless else "as root"
    found = f"{info.runtime or 'the runtime is not told'}, the engine {engine}, no network"
    return Check("isolation", State.OK, f"{found}; {RUNTIME} chooses another runtime")


def _storage(info: EngineInfo) -> Check:
    if info.storage_driver == "vfs":
        return Check(
            "storage driver",
            State.WARN,
            "vfs: every container is a whole copy of its image",
            "Keep the engine's data on a file system that overlay works on, e.g. ext4 or xfs.",
        )
    return Check("storage driver", State.OK, info.storage_driver)


def _changes(info: EngineInfo) -> Check:
    name = "change set"
    if info.name == "native":
        return Check(name, State.OK, "read from the overlay's upper directory")
    folder = Path(info.root) / "overlay2"
    runtime = Runtime(info.runtime, chosen=False, rootless=info.rootless)
    overlay = info.local and info.storage_driver == "overlay2" and runtime.shows_upper
    if overlay and os.access(folder, os.R_OK | os.X_OK):
        return Check(name, State.OK, "read from the overlay's upper directory")
    return Check(name, State.OK, "read through the supervisor's manifest, which takes longer")


def _kernel(info: EngineInfo) -> Iterator[Check]:
    version = _version(info.kernel)
    needed = {"openat2": (5, 6), "killable held execs": (5, 19)}
    missing = [name for name, since in needed.items() if version < since]
    if info.local and "user_notif" not in _seccomp_actions():
        missing.append("seccomp user notification")
    if missing:
        yield Check(
            "kernel",
            State.WARN,
            f"{info.kernel}, without {', '.join(missing)}",
            "Use kernel 5.19 or newer for full interception.",
        )
    else:
        features = ", ".join([*needed, "seccomp user notification"])
        yield Check("kernel", State.OK, f"{info.kernel}: {features}")


def _interception(engine: Engine, info: EngineInfo) -> Check:
    """What a run will see of the processes that an agent starts: tried in a container.

    Where there is no image to start one from yet, as far as the kernel tells.
    """
    name = "processes seen"
    try:
        most = allowed()
    except UsageError as error:
        return Check(name, State.BAD, error.message, error.next_step)
    features = _features(engine)
    if features is None:
        features = _expected(info, most)
    held, logged = features.coverage("hold"), features.coverage("log")
    hint = f"{VARIABLE} allows no more. " if most != "exec" else ""
    if held == "top-level":
        found = f"{logged} if only recorded, " if logged != held else ""
        wants = "Use kernel 5.19 or newer, or an engine that allows ptrace."
        return Check(name, State.WARN, f"{found}top-level: commands alone", hint + wants)
    if held == "ptrace":
        found = "ptrace: each program before its first instruction; a refused process is killed"
        wants = "Use kernel 5.19 or newer with seccomp user notification for exec."
        return Check(name, State.WARN, found, hint + wants)
    tells = "and signals" if "exec_status" in features.features else "but no signals"
    found = f"exec: each exec, held for approval, with exit codes {tells} below the top level"
    return Check(name, State.OK, found)


def _features(engine: Engine) -> Greeting | None:
    """What the supervisor finds in a container of one of our images; None without an image."""
    for image in engine.images(MANAGED)[:TRIED]:
        try:
            with engine.start(SessionSpec(image.id)) as session:
                return session.greeting
        except SandboxError:
            continue
    return None


def _expected(info: EngineInfo, most: Coverage) -> Greeting:
    version, features = _version(info.kernel), {"exec_trace"}
    if not info.local or "user_notif" in _seccomp_actions():
        since = {"exec_log": SEES_EXECS, "exec_hold": HOLDS_EXECS, "exec_status": TELLS_ENDS}
        features |= {name for name, first in since.items() if version >= first}
    if most != "exec":
        features = {"exec_trace"} if most == "ptrace" else set()
    return Greeting(0, info.architecture, info.kernel, frozenset(features))


def _seccomp_actions() -> list[str]:
    try:
        return SECCOMP_ACTIONS.read_text().split()
    except OSError:
        return []


def _version(release: str) -> tuple[int, ...]:
    """The two numbers of a release such as `6.1.0-13-amd64`."""
    numbers = release.split("-")[0].split(".")[:2]
    return tuple(int(number) if number.isdigit() else 0 for number in numbers)


def _space(info: EngineInfo | None) -> Iterator[Check]:
    folders = {"cache": places.cache(), "runs": places.runs()}
    if info is not None and info.local:
        folders["engine"] = Path(info.root)
    for name, folder in folders.items():
        free = shutil.disk_usage(_existing(folder)).free
        state = State.BAD if free < NO_SPACE else State.WARN if free < LITTLE_SPACE else State.OK
        hint = "" if state is State.OK else "Free some: `sandbox gc`, `docker system prune`."
        yield Check(f"disk: {name}", state, f"{free / GIBIBYTE:.1f} GiB free at {folder}", hint)


def _existing(folder: Path) -> Path:
    """The folder, or the nearest above it that exists."""
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    return folder


def _tools() -> Iterator[Check]:
    git = shutil.which("git")
    yield (
        Check("git", State.OK, git)
        if git
        else Check("git", State.BAD, "not found", "Install git (`apt-get install git`).")
    )
    if compiler.CARRIED.is_dir():
        yield Check("supervisor", State.OK, "ready-built, in the package")
    elif compiler.has_compiler():
        yield Check("supervisor", State.OK, "compiled here, by ziglang")
    else:
        yield Check("supervisor", State.BAD, "ziglang is not installed", "Run `make setup`.")
    bootstrap = shutil.which("mmdebstrap")
    yield (
        Check("base images", State.OK, f"from a registry, or by {bootstrap}")
        if bootstrap
        else Check(
            "base images",
            State.WARN,
            "only from a registry: mmdebstrap is not installed",
            "Where no registry answers: `apt-get install mmdebstrap`.",
        )
    )
