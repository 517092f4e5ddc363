"""Small packages, made here, and registries that serve them on this host's loopback."""

import hashlib
import io
import json
import os
import re
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from sandbox.container.engines.loopback import LoopbackListener
from sandbox.container.mirror import Mirror, Served
from sandbox.model.artifact import Artifact, ArtifactKind
from sandbox.model.registry import Registry

Files = dict[Artifact, Path]
Fault = Mapping[str, JsonValue]
FILLING = "x = 0\n" * 10_000
"""Makes an archive larger than what fits into one piece."""


def wheel(folder: Path, name: str, version: str, requires: str = "", python: str = "") -> Files:
    module = re.sub(r"[-.]", "_", name).lower()
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += f"Requires-Dist: {requires}\n" if requires else ""
    metadata += f"Requires-Python: {python}\n" if python else ""
    info = f"{module}-{version}.dist-info"
    content = {
        f"{module}.py": f"__version__ = {version!r}\n{FILLING}",
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    path = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, text in content.items():
            archive.writestr(zipfile.ZipInfo(member), text)
    return {_artifact(ArtifactKind.WHEEL, name, version, path): path}


def sdist(folder: Path, name: str, version: str, python: str = "") -> Files:
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += f"Requires-Python: {python}\n" if python else ""
    path = folder / f"{name}-{version}.tar.gz"
    _tar(path, {f"{name}-{version}/PKG-INFO": metadata})
    return {_artifact(ArtifactKind.SDIST, name, version, path): path}


def npm(folder: Path, name: str, version: str, **fields: JsonValue) -> Files:
    said = {"name": name, "version": version, "main": "index.js", "description": "d", **fields}
    path = folder / f"{name.replace('@', '').replace('/', '-')}-{version}.tgz"
    script = f"module.exports = {version!r};\n{'// filling'.ljust(10_000)}"
    _tar(path, {"package/package.json": json.dumps(said), "package/index.js": script})
    return {_artifact(ArtifactKind.NPM, name, version, path): path}


def _tar(path: Path, members: dict[str, str]) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))


def _artifact(kind: ArtifactKind, name: str, version: str, path: Path) -> Artifact:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Artifact(kind=kind, name=name, version=version, filename=path.name, sha256=digest)


def registry(files: Files, *faults: Fault, **fields: JsonValue) -> Registry:
    artifacts = [artifact.model_dump(mode="json") for artifact in files]
    said = {"artifacts": artifacts, "faults": [*map(dict, faults)], **fields}
    return Registry.model_validate_json(json.dumps(said))


@dataclass
class Running:
    port: int
    served: list[Served] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def index(self) -> str:
        return f"{self.address}/simple/"

    @property
    def statuses(self) -> list[int]:
        return [each.status for each in self.served]

    @property
    def struck(self) -> list[tuple[str, int]]:
        return [
            (each.strike.fault.id, each.strike.occurrence) for each in self.served if each.strike
        ]


@contextmanager
def running(files: Files, *faults: Fault) -> Iterator[Running]:
    served: list[Served] = []
    mirror = Mirror(registry(files, *faults), files, served.append)
    with LoopbackListener(0, mirror.serve) as listener:
        yield Running(listener.port, served)


def clean(**more: str) -> dict[str, str]:
    """An environment in which pip and npm have no configuration of this machine."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.lower().startswith(("pip_", "npm_", "http_proxy", "https_proxy", "all_proxy"))
    }
    return {**kept, "PIP_CONFIG_FILE": "/dev/null", "NPM_CONFIG_USERCONFIG": "/dev/null", **more}


def call(*words: str, cwd: Path | None = None, **environment: str) -> tuple[int, str]:
    """Exit code and output of a program."""
    done = subprocess.run(
        words,
        cwd=cwd,
        env=clean(**environment),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout
