"""An npm registry: packuments, whole and abbreviated, single versions, tarballs.

https://github.com/npm/registry/blob/main/docs/responses/package-metadata.md
"""

import base64
import hashlib
import json
import re
import tarfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandbox.container.mirror.pages import Archive, Found, Page
from sandbox.model.artifact import Artifact, ArtifactKind

ABBREVIATED = "application/vnd.npm.install-v1+json"
_WHOLE = "application/json"
_MODIFIED = "2025-01-01T00:00:00.000Z"
_KEPT = (
    *("name", "version", "deprecated", "bin", "dist", "engines", "cpu", "os", "libc"),
    *("dependencies", "optionalDependencies", "devDependencies", "peerDependencies"),
    *("peerDependenciesMeta", "bundleDependencies", "bundledDependencies", "directories"),
    *("_hasShrinkwrap", "hasInstallScript"),
)
"""Fields of a version that its abbreviated form has."""
_INSTALL_SCRIPTS = ("preinstall", "install", "postinstall")

Manifest = dict[str, Any]


class NpmRegistry:
    """The npm packages among some pinned files."""

    def __init__(self, files: Mapping[Artifact, Path]) -> None:
        self._packages: dict[str, dict[str, Manifest]] = defaultdict(dict)
        self._archives: dict[str, Archive] = {}
        for artifact, path in files.items():
            if artifact.kind is ArtifactKind.NPM:
                name, version = artifact.name, artifact.version
                manifest, where = _manifest(artifact, path), tarball(artifact)
                self._packages[name][version] = manifest
                self._archives[where] = Archive(name, path)

    def find(self, path: str, accept: str, base: str) -> Found | None:
        """What there is under a path; tarballs are given addresses that start with `base`."""
        if path in self._archives:
            return self._archives[path]
        if path == "/-/ping":
            return Page("", b"{}", _WHOLE)
        asked = path.removeprefix("/")
        if asked in self._packages:
            return self._packument(asked, base, abbreviated=ABBREVIATED in accept)
        name, _, version = asked.rpartition("/")
        if name not in self._packages:
            return None
        versions = self._packages[name]
        manifest = versions.get(latest(versions) if version == "latest" else version)
        if manifest is None:
            return None
        return Page(name, json.dumps(_placed(manifest, base)).encode(), _WHOLE)

    def _packument(self, name: str, base: str, *, abbreviated: bool) -> Page:
        versions = {
            version: _placed(manifest, base) for version, manifest in self._packages[name].items()
        }
        said: Manifest = {"name": name, "dist-tags": {"latest": latest(versions)}}
        if abbreviated:
            kept = {
                version: {key: value for key, value in manifest.items() if key in _KEPT}
                for version, manifest in versions.items()
            }
            said |= {"modified": _MODIFIED, "versions": kept}
            return Page(name, json.dumps(said).encode(), ABBREVIATED)
        times = {"created": _MODIFIED, "modified": _MODIFIED} | dict.fromkeys(versions, _MODIFIED)
        said |= {"_id": name, "versions": versions, "time": times}
        return Page(name, json.dumps(said).encode(), _WHOLE)


def tarball(artifact: Artifact) -> str:
    """The path of a package's file, as npm's own registry has it."""
    return f"/{artifact.name}/-/{artifact.name.rpartition('/')[2]}-{artifact.version}.tgz"


def latest(versions: Mapping[str, object]) -> str:
    """The newest version; one that is no release only where there is no other.

    https://semver.org/#spec-item-11
    """
    return max(versions, key=lambda version: ("-" not in version, _precedence(version)))


def _precedence(version: str) -> tuple[object, ...]:
    core, _, rest = version.partition("+")[0].partition("-")
    numbers = tuple(int(number) for number in re.findall(r"\d+", core))
    parts = tuple(
        (0, int(part), "") if part.isdigit() else (1, 0, part) for part in rest.split(".")
    )
    return numbers, not rest, parts


def _placed(manifest: Manifest, base: str) -> Manifest:
    dist = manifest["dist"]
    return {**manifest, "dist": {**dist, "tarball": base + dist["tarball"]}}


def _manifest(artifact: Artifact, path: Path) -> Manifest:
    """A package's own package.json, with what a registry adds to it."""
    content = path.read_bytes()
    said, names = _package_json(path)
    scripts = said.get("scripts")
    scripts = scripts if isinstance(scripts, dict) else {}
    added: Manifest = {
        "name": artifact.name,
        "version": artifact.version,
        "_id": f"{artifact.name}@{artifact.version}",
        "dist": {
            "tarball": tarball(artifact),
            "shasum": hashlib.sha1(content, usedforsecurity=False).hexdigest(),
            "integrity": f"sha512-{base64.b64encode(hashlib.sha512(content).digest()).decode()}",
        },
    }
    if any(scripts.get(name) for name in _INSTALL_SCRIPTS) or "binding.gyp" in names:
        added["hasInstallScript"] = True
    if "npm-shrinkwrap.json" in names:
        added["_hasShrinkwrap"] = True
    return {**said, **added}


def _package_json(path: Path) -> tuple[Manifest, set[str]]:
    """What the archive's package.json says, and the names of the files beside it."""
    said: Manifest = {}
    names = set[str]()
    with tarfile.open(path) as archive:
        for member in archive:
            folder, _, name = member.name.partition("/")
            if folder and "/" not in name:
                names.add(name)
            if name == "package.json" and (file := archive.extractfile(member)):
                read = json.loads(file.read().decode("utf-8-sig"))
                said = read if isinstance(read, dict) else {}
    return said, names
