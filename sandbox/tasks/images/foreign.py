"""Images of tasks from other formats: their authors' own, then what every task's image has.

The author's Dockerfile is built with a network, as its author meant it: the engine's own, from
which this machine's loopback cannot be reached, unless the task says `host` or `none`. The layers
above it have none, but for packages of the distribution.
"""

import os
import re
import shutil
import time
from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import RootModel

from sandbox.container.engines.base import ImageInfo
from sandbox.model import documents
from sandbox.model.container import Base, Container
from sandbox.model.errors import ImageError
from sandbox.model.repository import Repository
from sandbox.tasks.images import base, toolchain
from sandbox.tasks.images.pins import files_of, needed
from sandbox.tasks.images.recipe import (
    OnLine,
    Recipe,
    Work,
    copy,
    digest,
    dockerfile,
    folder_digest,
)
from sandbox.tasks.library import files_below
from sandbox.tasks.sources import Sources

NAME = "foreign"
BASES = "bases.yaml"
HUB = ("docker.io/library/", "library/", "public.ecr.aws/docker/library/", "mirror.gcr.io/library/")
"""What the official images of Docker Hub are called before their plain names, mirrors included."""
BUILD_SECONDS = 1800.0
"""How long an author's Dockerfile may take, as long as it says something."""
_FROM = re.compile(
    r"^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(\S+)(?:[ \t]+AS[ \t]+\S+)?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_REFERENCE = re.compile(r"[a-z0-9][a-z0-9._/:-]*[A-Za-z0-9._-]*(@sha256:[0-9a-f]{64})?")
_NEAR = re.compile(r"://([^/@]*@)?(localhost|127\.|\[::1\])")
_BUNDLE, _BUNDLE_THERE = "host-ca.pem", "/etc/host-ca.pem"
_TRUSTING = ("SSL_CERT_FILE", "PIP_CERT", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE",
             "NODE_EXTRA_CA_CERTS")  # fmt: skip


class Bases(RootModel[tuple[Base, ...]]):
    """The first that matches counts."""


def standing_for(reference: str) -> Base | None:
    """Say what stands for an image of others; None where nothing is known."""
    rows = documents.load(toolchain.folder(NAME) / BASES, Bases).root
    plain = next(
        (reference.removeprefix(each) for each in HUB if reference.startswith(each)), reference
    )
    named = plain if ":" in plain.rpartition("/")[2] else f"{plain}:latest"
    return next((row for row in rows if fnmatchcase(named, row.match)), None)


def from_of(text: str) -> str:
    """Return the one image that a Dockerfile is FROM; ImageError where there are more, or none."""
    found = _FROM.findall(text.replace("\r\n", "\n").removeprefix("\ufeff"))
    if len(found) != 1 or len(re.findall(r"^[ \t]*FROM\b", text, re.MULTILINE | re.I)) != 1:
        raise ImageError(
            "Its Dockerfile does not have exactly one line `FROM <image>`.",
            "Several stages cannot be imported yet; build it and say FROM the result.",
        )
    if not _REFERENCE.fullmatch(found[0]):
        raise ImageError(
            f"Its Dockerfile is FROM {found[0]!r}, which is not the plain name of an image.",
            "Write the name out, without variables and in lower case.",
        )
    return str(found[0])


def environment(
    container: Container, folder: Path, repository: Repository, sources: Sources
) -> Recipe:
    """Return how the image below a task's is made; its requirements are its test script's."""
    below = adapted(repository.name, container, folder)
    source = toolchain.folder(NAME) / toolchain.ENVIRONMENT

    def make(recipe: Recipe, work: Work) -> ImageInfo:
        dockerfile(source, work)
        files = sources.fetch_all(needed(repository), work.on_line)
        copy(files.values(), work.folder / "mirror")
        listed = files_of(repository)["requirements.txt"]
        (work.folder / "requirements.txt").write_text(listed)
        return work.build(recipe)

    inputs = (source.read_text(), *(each.model_dump_json() for each in repository.requirements))
    return Recipe(f"{NAME}-{repository.name}-environment", digest(below, *inputs), below, make)


def adapted(name: str, container: Container, folder: Path) -> Recipe:
    """Return how the author's image gets a user for the agent, git, and what its tests want."""
    below = _own(name, container, folder)
    source = toolchain.folder(NAME)
    packages = " ".join(container.packages)

    def make(recipe: Recipe, work: Work) -> ImageInfo:
        dockerfile(source / toolchain.TOOLCHAIN, work)
        shutil.copytree(source / "etc", work.folder / "etc")
        arguments = {"PACKAGES": packages, **toolchain.proxies()}
        return _built(recipe, work, container, arguments)

    files = [source / toolchain.TOOLCHAIN, *files_below(source / "etc")]
    whole = digest(below, packages, folder_digest(source, files))
    return Recipe(f"{NAME}-{name}-adapted", whole, below, make)


def _own(name: str, container: Container, folder: Path) -> Recipe:
    """Return how the author's own image is made."""
    context = folder / container.context
    text = documents.read(context / container.dockerfile)
    reference = from_of(text)
    row = standing_for(reference) if container.base else None
    below = base.recipe() if container.base else None

    def make(recipe: Recipe, work: Work) -> ImageInfo:
        shutil.copytree(context, work.folder, dirs_exist_ok=True)
        lines = [f"FROM {work.parent or reference}", *_trusting(work.folder)]
        if row is not None:
            lines += _prepared(row)
        plain = text.replace("\r\n", "\n").removeprefix("\ufeff")
        said = _FROM.sub(lambda _: "\n".join(lines), plain, count=1)
        (work.folder / "Dockerfile").write_text(said, encoding="utf-8")
        bounded = replace(work, on_line=_bounded(work.on_line))
        return _built(recipe, bounded, container, {**toolchain.proxies(), **_bundle()})

    prepared = row.model_dump_json() if row else reference
    whole = digest(below, prepared, folder_digest(context, files_below(context)))
    return Recipe(f"{NAME}-{name}-own", whole, below, make)


def _built(
    recipe: Recipe, work: Work, container: Container, arguments: Mapping[str, str]
) -> ImageInfo:
    """Build with the task's network; ImageError says what would help where that is not there."""
    if container.network == "bridge" and (missing := _missing(work, arguments)):
        raise ImageError(
            f"Its Dockerfile cannot be built with the engine's own network: {missing}.",
            "With `--network host` its lines reach all that this machine does, services on "
            "loopback among it; with `--network none` they reach nothing.",
        )
    return work.build(recipe, container.network, arguments)


def _missing(work: Work, arguments: Mapping[str, str]) -> str:
    """Say why nothing could be reached from the engine's own network; empty where all is well."""
    if not work.engine.bridged():
        return "the engine has none"
    near = [name for name in ("http_proxy", "https_proxy") if _NEAR.search(arguments.get(name, ""))]
    return f"{near[0]} is a service on this machine's loopback" if near else ""


def _bounded(on_line: OnLine) -> OnLine:
    """Pass lines on until the build has taken too long; ImageError then."""
    deadline = time.monotonic() + BUILD_SECONDS

    def told(line: str) -> None:
        if time.monotonic() > deadline:
            raise ImageError(
                f"Its author's image is not built within {BUILD_SECONDS:.0f} s.",
                "Build it by hand and say FROM the result.",
            )
        on_line(line)

    return told


def _prepared(row: Base) -> list[str]:
    """Give what makes our base into what stands for another."""
    installed = " ".join(row.packages)
    lines = ["apt-get update -qq"] if installed else []
    lines += [f"apt-get install -qq -y --no-install-recommends {installed}"] if installed else []
    lines += row.commands
    said = " && ".join(lines)
    return ["ENV DEBIAN_FRONTEND=noninteractive", *([f"RUN {said}"] if said else [])]


def _bundle() -> dict[str, str]:
    """Say by build arguments where certificates are, where this host has its own for clients."""
    return dict.fromkeys(_TRUSTING, _BUNDLE_THERE) if _certificates() else {}


def _trusting(folder: Path) -> list[str]:
    """Give the lines by which a build knows them: arguments, which no container has later."""
    if (bundle := _certificates()) is None:
        return []
    shutil.copyfile(bundle, folder / _BUNDLE)
    return [f"COPY {_BUNDLE} {_BUNDLE_THERE}", *(f"ARG {name}" for name in _TRUSTING)]


def _certificates() -> Path | None:
    named = os.environ.get("SSL_CERT_FILE")
    return Path(named) if named and Path(named).is_file() else None
