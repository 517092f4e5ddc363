"""Projects of PyPI, npm and Debian, asked for by the registries' own clients.

Nothing is pinned yet, so nothing can be verified: pip builds an sdist's metadata, which runs its
code, exactly as `pip install` of that release would.
"""

import email
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import cast

from sandbox.model.artifact import ArtifactKind
from sandbox.model.errors import RepositoryError, SourceError
from sandbox.tasks.authoring.origin import Origin
from sandbox.tasks.authoring.project import UNKNOWN, Project, ReleaseFile, in_order, packed
from sandbox.tasks.repos import archive
from sandbox.tasks.sources.registry_clients import ClientError, Clients

_FINAL = re.compile(r"[0-9]+(\.[0-9]+)*(\.post[0-9]+)?")
_AT_ONCE = 4
_SHORT = 60
"""Characters; a licence field that is longer is the licence's own text."""

_LICENSED = re.compile(r"^License :: (?:.+ :: )?(.+)$", re.MULTILINE)
"""A classifier of core metadata: PEP 301."""

OnLine = Callable[[str], None]


def found(origin: Origin, count: int, folder: Path, on_line: OnLine) -> Project:
    """Fetch the newest `count` releases into a folder, or those up to the one that is named.

    SourceError where the client fails or knows no such project.
    """
    asked = {"pypi": _pypi, "npm": _npm, "debian": _debian}[origin.registry]
    with _translated(origin):
        return asked(origin, count, folder, on_line)


def _pypi(origin: Origin, count: int, folder: Path, on_line: OnLine) -> Project:
    pip = [sys.executable, "-m", "pip"]
    told = _run([*pip, "index", "versions", origin.name], folder)
    listed = re.search(r"^Available versions: (.*)$", told, re.MULTILINE)
    versions = listed[1].split(", ") if listed else []
    wanted = _up_to(origin, [each for each in versions if _FINAL.fullmatch(each)], count)

    def download(version: str) -> Path | None:
        target = folder / version
        only = ["--no-deps", f"--no-binary={origin.name}", "--progress-bar=off"]
        _run([*pip, "download", *only, f"--dest={target}", f"{origin.name}=={version}"], folder)
        return next(target.glob("*.tar.gz"), None)

    releases, notes = _fetched(wanted, download, on_line)
    said = _core_metadata(releases[-1].path) if releases else {}
    return Project(
        origin.name,
        ArtifactKind.SDIST,
        in_order(releases),
        summary=said.get("summary") or UNKNOWN,
        license=_license(said),
        home=said.get("home-page") or said.get("project-url", UNKNOWN).rpartition(", ")[2],
        notes=notes,
    )


def _npm(origin: Origin, count: int, folder: Path, on_line: OnLine) -> Project:
    fields = ("versions", "time", "license", "description", "homepage")
    told = _run(["npm", "view", origin.name, "--json", *fields], folder)
    said, _ = json.JSONDecoder().raw_decode(told, told.index("{"))  # warnings stand around it
    versions = said["versions"] if isinstance(said["versions"], list) else [said["versions"]]
    wanted = _up_to(origin, [each for each in reversed(versions) if "-" not in each], count)

    def download(version: str) -> Path | None:
        target = folder / version
        target.mkdir()
        options = [f"--pack-destination={target}", "--ignore-scripts", "--no-update-notifier"]
        _run(["npm", "pack", f"{origin.name}@{version}", *options], folder)
        return next(target.glob("*.tgz"), None)

    releases, notes = _fetched(wanted, download, on_line)
    dated = [
        ReleaseFile(each.version, each.path, datetime.fromisoformat(said["time"][each.version]))
        for each in releases
    ]
    license_ = said.get("license")
    return Project(
        origin.name,
        ArtifactKind.NPM,
        in_order(dated),
        summary=said.get("description") or UNKNOWN,
        license=license_ if isinstance(license_, str) else UNKNOWN,
        home=said.get("homepage") or UNKNOWN,
        notes=notes,
    )


def _debian(origin: Origin, count: int, folder: Path, on_line: OnLine) -> Project:
    del count  # a suite holds one version
    on_line(f"{origin.name}: fetching the source package of {origin.at}")
    suite = cast("str", origin.at)
    path = Clients().source_package(origin.name, suite, folder)
    named = re.fullmatch(r"[^_]+_(.+)\.orig\.tar\.[a-z0-9]+", path.name)
    version = named[1] if named else UNKNOWN
    note = "Debian's archive says neither licence nor summary in a form that a program can read."
    release = ReleaseFile(version, path, packed(path))
    return Project(origin.name, ArtifactKind.DEBIAN, (release,), suite=suite, notes=(note,))


def _up_to(origin: Origin, newest_first: list[str], count: int) -> list[str]:
    if origin.at is not None and origin.at not in newest_first:
        known = ", ".join(newest_first[:8]) or "none"
        raise SourceError(
            f"{origin.name} has no final release {origin.at}.", f"The newest are {known}."
        )
    start = newest_first.index(origin.at) if origin.at else 0
    return newest_first[start : start + count]


def _fetched(
    versions: Iterable[str], download: Callable[[str], Path | None], on_line: OnLine
) -> tuple[list[ReleaseFile], tuple[str, ...]]:
    """Download several at once; the releases from old to new, and which ones were left out."""
    releases, notes = [], []

    def tried(version: str) -> tuple[str, Path | None, str]:
        on_line(f"{version}: fetching")
        try:
            path = download(version)
            for _ in archive.read(path) if path else ():
                pass  # what cannot be made into a commit is left out here
        except ClientError as error:
            return version, None, str(error).strip().splitlines()[-1].strip()
        except RepositoryError as error:
            return version, None, error.message.partition(";")[0]
        return version, path, "it has no archive of sources, .tar.gz or .tgz"

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for version, path, why in pool.map(tried, versions):
            if path is None:
                notes.append(f"Release {version} was left out: {why}.")
            else:
                releases.append(ReleaseFile(version, path, packed(path)))
    if not releases:
        raise SourceError("There is no release that can be used.", "\n".join(notes))
    return releases[::-1], tuple(notes)


def _core_metadata(path: Path) -> dict[str, str]:
    """Read an sdist's PKG-INFO; of what stands there several times, the first."""
    for file in archive.read(path):
        if file.path == "PKG-INFO":
            message = email.message_from_bytes(file.data)
            first = {key.lower(): value for key, value in reversed(message.items())}
            return {**first, "classifiers": "\n".join(message.get_all("Classifier", []))}
    return {}


def _license(said: dict[str, str]) -> str:
    for told in (said.get("license-expression", ""), said.get("license", "")):
        if told and "\n" not in told and len(told) <= _SHORT:
            return told
    found = _LICENSED.search(said.get("classifiers", ""))
    return found[1] if found else UNKNOWN


def _run(command: list[str], folder: Path) -> str:
    return Clients().run(command, folder)


@contextmanager
def _translated(origin: Origin) -> Iterator[None]:
    try:
        yield
    except (ClientError, KeyError, ValueError) as error:
        raise SourceError(
            f"{origin.registry} could not tell of {origin.name}; nothing was written.\n{error}",
            "Check the name, and that the registry's own client reaches it from here.",
        ) from error
