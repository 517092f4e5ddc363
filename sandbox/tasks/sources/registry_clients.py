"""The registries' own clients, run as the user has configured them.

None of them is given an index, a proxy or a certificate: what the user's environment and
configuration files say holds. pip and npm run no script of what they fetch before its digest is
known.
"""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from sandbox.model.artifact import Artifact, ArtifactKind
from sandbox.tasks.sources import debian

_LAST_LINES = 12
_PIP_FOUND = re.compile(r"^\s*Got\s+([0-9a-f]{64})\s*$", re.MULTILINE)

CLIENTS = {
    ArtifactKind.SDIST: "pip",
    ArtifactKind.WHEEL: "pip",
    ArtifactKind.NPM: "npm",
    ArtifactKind.DEB: "apt-get",
    ArtifactKind.DEBIAN: "apt-get",
}


class ClientError(Exception):
    """The client could not be started or failed; the text is its last lines."""


class MismatchError(Exception):
    """The client found the file, but with another SHA-256, and kept nothing."""

    def __init__(self, digest: str) -> None:
        super().__init__(digest)
        self.digest = digest


class Clients:
    """Runs clients in several threads until `stop`."""

    def __init__(self) -> None:
        self.stopped = threading.Event()
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()

    def download(self, artifact: Artifact, folder: Path) -> Path:
        """Return the file, which stands unverified below `folder`.

        ClientError where the client fails, MismatchError where it saw another digest.
        """
        target = folder / "download"
        target.mkdir(exist_ok=True)
        if artifact.kind is ArtifactKind.DEBIAN:
            command = self._apt_get_source(artifact.name, artifact.suite or "", folder)
        else:
            command = _COMMANDS[artifact.kind](artifact, folder, target)
        output, exit_code = self._started(command, target)
        if exit_code:
            found = _PIP_FOUND.search(output)
            if found and found[1] != artifact.sha256:
                raise MismatchError(found[1])
            raise ClientError(_last_lines(output) or f"{command[0]} ended with {exit_code}")
        file = target / artifact.filename
        if not file.is_file():
            names = ", ".join(sorted(path.name for path in target.iterdir())) or "nothing"
            raise ClientError(f"it fetched {names} instead of {artifact.filename}")
        return file

    def stop(self) -> None:
        """Start no other client and end those that run."""
        with self._lock:
            self.stopped.set()
            for process in self._running:
                _signal_group(process, signal.SIGTERM)

    def run(self, command: list[str], folder: Path) -> str:
        """Return what a client prints, run in `folder`; ClientError where it fails."""
        output, exit_code = self._started(command, folder)
        if exit_code:
            raise ClientError(_last_lines(output) or f"{command[0]} ended with {exit_code}")
        return output

    def source_package(self, name: str, suite: str, folder: Path) -> Path:
        """Fetch the tarball of a Debian source package, unverified; ClientError where it fails."""
        target = folder / "download"
        target.mkdir(exist_ok=True)
        self.run(self._apt_get_source(name, suite, folder), target)
        return next(target.glob("*.orig.tar.*"))

    def _apt_get_source(self, name: str, suite: str, folder: Path) -> list[str]:
        """Return what fetches a source package's tarball, once its suite's list is there."""
        told, exit_code = self._started([*debian.SOURCES_OF_HOST], folder)
        address = None if exit_code else debian.mirror(told, suite)
        if address is None:
            raise ClientError("  apt's sources name no Debian mirror on this machine")
        options = debian.options(address, suite, folder / "apt")
        self.run(["apt-get", *options, "update"], folder)
        # The suite holds one version; which one is fetched, the file's name and digest tell.
        whole = ["source", "--only-source", "--download-only", "--tar-only", name]
        return ["apt-get", *options, *whole]

    def _started(self, command: list[str], folder: Path) -> tuple[str, int]:
        try:
            with self._lock:
                if self.stopped.is_set():
                    raise ClientError("stopped")
                # A group of its own, so that the helpers a client starts end with it.
                process = subprocess.Popen(
                    command,
                    cwd=folder,
                    env=_environment(os.environ),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    errors="replace",
                    start_new_session=True,
                )
                self._running.add(process)
        except OSError as error:
            raise ClientError(f"{command[0]} cannot be started: {error.strerror}") from error
        try:
            output, _ = process.communicate()
        finally:
            with self._lock:
                self._running.discard(process)
        return output, process.returncode


def _signal_group(process: subprocess.Popen[str], number: signal.Signals) -> None:
    if process.poll() is None:
        os.killpg(process.pid, number)


def _environment(inherited: Mapping[str, str]) -> dict[str, str]:
    return {
        **inherited,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
        "PYTHONIOENCODING": "utf-8",
        "NO_COLOR": "1",
    }


def _last_lines(output: str) -> str:
    lines = [line.rstrip() for line in output.splitlines() if line.strip()]
    return "\n".join(f"  {line}" for line in lines[-_LAST_LINES:])


def _pip(artifact: Artifact, folder: Path, target: Path) -> list[str]:
    # pip prepares an sdist's metadata, hence runs its build backend. With the hash in a
    # requirements file it verifies first; it also picks the right one of several files.
    requirement = folder / "requirements.txt"
    requirement.write_text(f"{artifact.name}=={artifact.version} --hash=sha256:{artifact.sha256}\n")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--progress-bar=off"]
    if artifact.kind is ArtifactKind.SDIST:
        # By name: what its build backend needs is then taken as wheels, not built from source too.
        command += [f"--no-binary={artifact.name}"]
    else:
        command += ["--only-binary=:all:", "--ignore-requires-python", *_target(artifact.filename)]
    return [*command, f"--dest={target}", f"--requirement={requirement}"]


def _target(filename: str) -> list[str]:
    """Return pip's options for the Python and the platforms that a wheel's name tells."""
    python, abi, platforms = filename.removesuffix(".whl").split("-")[-3:]
    if (abi, platforms) == ("none", "any"):
        return []
    tag = re.fullmatch(r"([a-z]+)([0-9]*)", python.split(".")[0])
    implementation, version = tag.groups() if tag else ("cp", "")
    options = [f"--implementation={implementation}", *(f"--abi={name}" for name in abi.split("."))]
    if version:
        options.append(f"--python-version={version}")
    return options + [f"--platform={name}" for name in platforms.split(".")]


def _npm(artifact: Artifact, _folder: Path, target: Path) -> list[str]:
    return [
        "npm",
        "pack",
        f"{artifact.name}@{artifact.version}",
        f"--pack-destination={target}",
        "--ignore-scripts",
        "--no-update-notifier",
    ]


def _apt_get(artifact: Artifact, _folder: Path, _target: Path) -> list[str]:
    return ["apt-get", "download", f"{artifact.name}={artifact.version}"]


_COMMANDS: dict[ArtifactKind, Callable[[Artifact, Path, Path], list[str]]] = {
    ArtifactKind.SDIST: _pip,
    ArtifactKind.WHEEL: _pip,
    ArtifactKind.NPM: _npm,
    ArtifactKind.DEB: _apt_get,
}
