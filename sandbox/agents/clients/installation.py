"""Clients on this machine: those in the cache, put there by npm and pip, and those on the PATH."""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from sandbox.agents.clients.preset import Preset
from sandbox.model.architecture import npm_name
from sandbox.model.errors import ClientError
from sandbox.model.scratch import Scratch

VERSION_SECONDS = 60.0
INSTALL_SECONDS = 900.0


@dataclass(frozen=True, slots=True)
class Installation:
    """A client's program."""

    program: Path
    path: str
    """The PATH that it is run with."""


def platform_name() -> str:
    """Say what npm calls this machine: `linux-x64`."""
    return f"{sys.platform}-{npm_name(platform.machine())}"


def place(preset: Preset, cache: Path) -> Path:
    """Where a preset's own version is installed."""
    return (
        cache / "clients" / f"{preset.package.shared_with or preset.name}-{preset.package.version}"
    )


def locate(preset: Preset, cache: Path) -> Installation:
    """Find the client in the cache, else on the PATH; ClientError where it is nowhere."""
    package = preset.package
    path = os.environ.get("PATH", os.defpath)
    if package.node:
        path = f"{_node(package.node, cache)}:{path}"
    if package.registry == "none":
        found = shutil.which(package.program)
        if found is None:
            raise ClientError(
                f"{preset.title} is not installed: there is no program {package.program}.",
                "Put it on the PATH, or write its path into the preset.",
            )
        return Installation(Path(found).absolute(), path)
    own = place(preset, cache) / Template(package.program).substitute(platform=platform_name())
    if own.exists():
        return Installation(own, f"{own.parent}:{path}")
    found = shutil.which(own.name)
    if found:
        return Installation(Path(found), path)
    raise ClientError(
        f"{preset.title} is not installed.",
        f"`sandbox agents install {preset.name}` installs version {package.version}"
        f" of {package.name} into the cache.",
    )


def version(preset: Preset, installation: Installation) -> str:
    """Ask the client for its version; ClientError where it does not say one."""
    names = {"program": str(installation.program), "bin": str(installation.program.parent)}
    command = [Template(part).substitute(names) for part in preset.version.command]
    # Many write into their home even for this.
    with Scratch("version") as place:
        home = str(place)
        environment = {"PATH": installation.path, "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8"}
        printed = printed_by(command, environment)
    found = re.search(preset.version.pattern, printed)
    if found is None:
        raise ClientError(f"{preset.title} does not say its version: {printed[:200]!r}.")
    return found[1]


def printed_by(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Run a client's program for what it prints; ClientError where it fails."""
    return _run(command, VERSION_SECONDS, environment)


def install(preset: Preset, cache: Path) -> Path:
    """Put a preset's own version into the cache, if it is not there; return its folder.

    No script of an npm package is run. Raises ClientError where that fails.
    """
    package = preset.package
    if package.registry == "none":
        raise ClientError(
            f"{preset.title} comes from no registry, by its preset.",
            "Install it as its makers say.",
        )
    if package.node and not (_node(package.node, cache) / "node").exists():
        _npm(_node(package.node, cache).parents[2], f"node-{platform_name()}@{package.node}")
    folder = place(preset, cache)
    if package.registry == "npm" and not folder.exists():
        _npm(folder, f"{package.name}@{package.version}")
    elif package.registry == "pypi" and not (folder / package.program).exists():
        _pip(folder, (f"{package.name}=={package.version}", *package.beside))
    return folder


def _node(wanted: str, cache: Path) -> Path:
    """Where the `node` of a version lies, the package's own scripts being left out."""
    folder = cache / "clients" / f"node-{wanted}"
    return folder / "node_modules" / f"node-{platform_name()}" / "bin"


def _npm(folder: Path, wanted: str) -> None:
    """Fill a folder under another name first, so that it is whole when it is there."""
    early = folder.with_name(f".{folder.name}.{os.getpid()}")
    early.mkdir(parents=True)
    flags = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    try:
        _run(["npm", "install", "--prefix", str(early), *flags, wanted], INSTALL_SECONDS)
        early.rename(folder)
    finally:
        shutil.rmtree(early, ignore_errors=True)


def _pip(folder: Path, wanted: Sequence[str]) -> None:
    """Make an environment where it is to stay, for its programs name it; they come last."""
    shutil.rmtree(folder, ignore_errors=True)
    _run([sys.executable, "-m", "venv", str(folder)], INSTALL_SECONDS)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    _run([*pip, "--disable-pip-version-check", *wanted], INSTALL_SECONDS)


def _run(
    command: Sequence[str], seconds: float, environment: Mapping[str, str] | None = None
) -> str:
    """Run a program and return what it printed; ClientError where it fails."""
    try:
        ended = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except OSError as error:
        problem = f"{command[0]} could not be started: {error.strerror}."
        raise ClientError(problem, "Install it, or put it on the PATH.") from error
    except subprocess.TimeoutExpired as error:
        raise ClientError(f"{command[0]} did not end within {seconds:.0f} seconds.") from error
    if ended.returncode:
        last = ended.stderr.decode("utf-8", "replace").strip()[-500:]
        raise ClientError(f"{command[0]} failed with status {ended.returncode}: {last}")
    return ended.stdout.decode("utf-8", "replace")
