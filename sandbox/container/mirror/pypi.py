"""A static index of Python packages: PEP 503 as HTML, PEP 691 as JSON, files under `/files/`."""

import html
import json
import re
import tarfile
import zipfile
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path
from posixpath import basename

from sandbox.container.mirror.pages import Archive, Found, Moved, Page
from sandbox.model.artifact import Artifact, ArtifactKind

ROOT, FILES = "/simple", "/files"
JSON = "application/vnd.pypi.simple.v1+json"
HTML = "application/vnd.pypi.simple.v1+html"
_KINDS = (ArtifactKind.WHEEL, ArtifactKind.SDIST)


@dataclass(frozen=True, slots=True)
class _File:
    artifact: Artifact
    path: Path
    requires_python: str


class PythonIndex:
    """The Python packages among some pinned files."""

    def __init__(self, files: Mapping[Artifact, Path]) -> None:
        self._projects: dict[str, list[_File]] = defaultdict(list)
        self._files: dict[str, Archive] = {}
        for artifact, path in files.items():
            if artifact.kind in _KINDS:
                name = normalized(artifact.name)
                self._projects[name].append(_File(artifact, path, _requires_python(artifact, path)))
                self._files[f"{FILES}/{artifact.filename}"] = Archive(name, path)

    def find(self, path: str, accept: str) -> Found | None:
        """What there is under a path; `accept` is the header of that name."""
        if path in self._files:
            return self._files[path]
        if path == f"{ROOT}/":
            return self._page("", accept)
        if not path.startswith(f"{ROOT}/"):
            return None
        asked = path.removeprefix(f"{ROOT}/").removesuffix("/")
        name = normalized(asked)
        if name not in self._projects:
            return None
        if path != f"{ROOT}/{name}/":
            return Moved(name, f"{ROOT}/{name}/")
        return self._page(name, accept)

    def _page(self, name: str, accept: str) -> Page:
        if _prefers_json(accept):
            said = self._json(name) if name else self._json_list()
            return Page(name, json.dumps({"meta": {"api-version": "1.0"}, **said}).encode(), JSON)
        links = map(_link, self._projects[name]) if name else map(_entry, sorted(self._projects))
        text = '<!DOCTYPE html><html><head><meta name="pypi:repository-version" content="1.0">'
        text += f"<title>{name}</title></head><body>\n{''.join(links)}</body></html>\n"
        return Page(name, text.encode(), HTML if HTML in accept else "text/html")

    def _json(self, name: str) -> dict[str, object]:
        files = [
            {
                "filename": file.artifact.filename,
                "url": f"../..{FILES}/{file.artifact.filename}",
                "hashes": {"sha256": file.artifact.sha256},
                "requires-python": file.requires_python or None,
            }
            for file in self._projects[name]
        ]
        return {"name": name, "files": files}

    def _json_list(self) -> dict[str, object]:
        return {"projects": [{"name": name} for name in sorted(self._projects)]}


def normalized(name: str) -> str:
    """A project's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _prefers_json(accept: str) -> bool:
    """Whether JSON is named, and without a lower weight than HTML, as pip does."""
    weights = {}
    for part in accept.split(","):
        kind, _, parameters = part.strip().partition(";")
        found = re.search(r"q=([0-9.]+)", parameters)
        weights[kind.strip()] = float(found[1]) if found and found[1].count(".") < 2 else 1.0
    return weights.get(JSON, 0.0) > 0 and weights[JSON] >= weights.get(HTML, 0.0)


def _entry(name: str) -> str:
    return f'<a href="{name}/">{name}</a><br>\n'


def _link(file: _File) -> str:
    needs = f' data-requires-python="{html.escape(file.requires_python)}"'
    name = html.escape(file.artifact.filename)
    where = f"../..{FILES}/{name}#sha256={file.artifact.sha256}"
    return f'<a href="{where}"{needs if file.requires_python else ""}>{name}</a><br>\n'


def _requires_python(artifact: Artifact, path: Path) -> str:
    """What the package says of the Pythons that it works with, empty where it says nothing."""
    read = _wheel_metadata if artifact.kind is ArtifactKind.WHEEL else _sdist_metadata
    return HeaderParser().parsestr(read(path)).get("Requires-Python", "")


def _wheel_metadata(path: Path) -> str:
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.count("/") == 1 and name.endswith(".dist-info/METADATA"):
                return archive.read(name).decode("utf-8", "replace")
    return ""


def _sdist_metadata(path: Path) -> str:
    with tarfile.open(path) as archive:
        for member in archive:
            if member.name.count("/") == 1 and basename(member.name) == "PKG-INFO":
                file = archive.extractfile(member)
                return file.read().decode("utf-8", "replace") if file else ""
    return ""
