"""What a project's tests need besides the project: packages with all that they need in turn."""

import json
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox.model.artifact import Artifact, ArtifactKind, Machine
from sandbox.model.errors import SourceError
from sandbox.tasks.authoring.origin import Origin
from sandbox.tasks.authoring.pinning import pinned
from sandbox.tasks.sources import Sources
from sandbox.tasks.sources.registry_clients import ClientError, Clients

PYTHON = "3.11"
"""Of the image, for which wheels are chosen."""
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux2014_x86_64", "any")

_NPM = re.compile(r"(@[^/@\s]+/)?[^@\s;\"'\[]+@\S+")
"""A package as npm's client takes it, with its version."""

_MACHINES: Mapping[str, Machine] = {"x64": "x86_64", "arm64": "aarch64"}
"""As npm calls them."""

OnLine = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """Packages as a registry's client takes them, and what any package has to be."""

    packages: tuple[str, ...]
    constraints: tuple[str, ...] = ()
    without: str = ""
    """The project itself, which others may need: its code is the checkout's."""


def found(
    origin: Origin,
    version: str,
    asked: Asked,
    place: tuple[Path, Sources],
    on_line: OnLine,
) -> tuple[Artifact, ...]:
    """Pin what is wanted and what a release of PyPI or npm needs itself; nothing for C.

    `place` is a folder to work in, and the cache that keeps the files. SourceError where a client
    cannot find one of them.
    """
    folder, sources = place
    wanted = asked.packages
    if not wanted and origin.registry in ("debian", "git"):
        return ()
    on_line("finding what the tests need")
    try:
        if origin.registry == "npm" or any(map(_NPM.fullmatch, wanted)):
            return _npm(wanted, folder, sources)
        return _pypi(origin, version, asked, folder, sources)
    except (ClientError, ValueError, KeyError) as error:
        raise SourceError(
            f"What the tests need cannot be had ({', '.join(wanted)}); nothing was written.\n"
            f"{error}",
            "Name other packages with --requires, or take those of a repository with --like.",
        ) from error


def _pypi(
    origin: Origin, version: str, asked: Asked, folder: Path, sources: Sources
) -> tuple[Artifact, ...]:
    target = folder / "wheels"
    shutil.rmtree(target, ignore_errors=True)
    itself = [f"{origin.name}=={version}"] if origin.registry == "pypi" else []
    options = ["--only-binary=:all:", f"--python-version={PYTHON}", "--implementation=cp"]
    options += [f"--platform={platform}" for platform in PLATFORMS]
    constraints = folder / "constraints.txt"
    constraints.write_text("".join(f"{each}\n" for each in asked.constraints))
    options += [f"--constraint={constraints}", f"--dest={target}"]
    command = [sys.executable, "-m", "pip", "download", "--progress-bar=off", *options]
    wanted = asked.packages
    try:
        Clients().run([*command, *itself, *wanted], folder)
    except ClientError:
        if not itself:
            raise
        # Not every project has a wheel; what it needs itself its author may name.
        Clients().run([*command, *wanted], folder)
    own = re.sub(r"[-_.]+", "_", asked.without or origin.name).lower()
    wheels = [path for path in sorted(target.glob("*.whl")) if _project(path) != own]
    return tuple(
        pinned(ArtifactKind.WHEEL, path.name.split("-")[0], path.name.split("-")[1], path, sources)
        for path in wheels
    )


def _project(wheel: Path) -> str:
    return re.sub(r"[-_.]+", "_", wheel.name.split("-")[0]).lower()


def _npm(wanted: Sequence[str], folder: Path, sources: Sources) -> tuple[Artifact, ...]:
    if not wanted:
        return ()
    work = folder / "lock"
    work.mkdir()
    (work / "package.json").write_text("{}")
    quiet = ("--ignore-scripts", "--no-update-notifier", "--no-audit", "--no-fund")
    Clients().run(["npm", "install", "--package-lock-only", *quiet, *wanted], work)
    packages = json.loads((work / "package-lock.json").read_text())["packages"]
    listed = {
        (path.rpartition("node_modules/")[2], each["version"]): (path.count("node_modules/"), each)
        for path, each in packages.items()
        if path and not each.get("peer") and (not each.get("optional") or _machine(each))
    }
    # Of several versions of a package the last is the one at the top.
    found = []
    for (name, version), (_, each) in sorted(
        listed.items(), key=lambda item: (item[0][0], -item[1][0])
    ):
        target = folder / "npm" / f"{name.replace('/', '-')}-{version}"
        target.mkdir(parents=True)
        Clients().run(
            ["npm", "pack", f"{name}@{version}", f"--pack-destination={target}", *quiet[:2]], folder
        )
        package = pinned(ArtifactKind.NPM, name, version, next(target.glob("*.tgz")), sources)
        machine = _machine(each) if each.get("optional") else None
        found.append(package.model_copy(update={"machine": machine}))
    return tuple(found)


def _machine(package: dict[str, list[str]]) -> Machine | None:
    """Give the machine that an optional package has compiled code for; None where not for ours."""
    ours = "linux" in package.get("os", ()) and "musl" not in package.get("libc", ())
    return next(filter(None, map(_MACHINES.get, package.get("cpu", ()))), None) if ours else None
