"""The base image: pulled where a registry answers, else made of the distribution's packages."""

import os
import platform
import re
import shutil
import subprocess
import threading
from pathlib import Path

from sandbox.container.engines.base import Engine, ImageInfo
from sandbox.container.engines.install import packages
from sandbox.model import documents, places
from sandbox.model.architecture import kernel_name
from sandbox.model.errors import EngineError, ImageError
from sandbox.model.image import BaseImage, Bootstrap
from sandbox.tasks.images.recipe import OnLine, Recipe, Work, digest

FOLDER = "debian"
PULL_SECONDS = 90.0
"""How long a registry may take, where packages are at hand to make the image from."""
_LAST_LINES = 15


def read() -> BaseImage:
    """Read `images/debian/base.yaml`."""
    return documents.load(_file(), BaseImage)


def recipe() -> Recipe:
    """Return how the base is made."""
    base = read()
    command = _command(base.bootstrap, Path("base.tar"), [])
    return Recipe(
        FOLDER, digest(None, base.pull, str(base.bootstrap.modified_before), *command), None, make
    )


def _file() -> Path:
    return places.project() / "images" / FOLDER / "base.yaml"


def make(recipe: Recipe, work: Work) -> ImageInfo:
    """Pull the base, or make it of packages where it cannot be pulled."""
    base = read()
    work.on_line(f"pulling {base.pull}")
    problem = _pull(work.engine, base.pull)
    if not problem:
        return pulled(recipe, work, base)
    work.on_line(f"not pulled ({problem}); making it of {base.bootstrap.suite}'s packages")
    return bootstrapped(recipe, work, base)


def pulled(recipe: Recipe, work: Work, base: BaseImage) -> ImageInfo:
    """Give the image that the engine has pulled our name and labels."""
    (work.folder / "Dockerfile").write_text(f"FROM {base.pull}\n")
    return work.build(recipe)


def bootstrapped(recipe: Recipe, work: Work, base: BaseImage) -> ImageInfo:
    """Make the image of packages; EngineError where mmdebstrap cannot be had, ImageError."""
    _check_architecture(work.engine, base)
    _need_mmdebstrap(base, work.on_line)
    archive = work.folder / "base.tar"
    _run(_command(base.bootstrap, archive, _proxies()), base.bootstrap, work.on_line)
    return work.engine.import_image(archive, tag=recipe.tag, labels=recipe.labels)


def _pull(engine: Engine, reference: str) -> str:
    """Return why the image could not be had, empty where it could."""
    ended: list[str] = []

    def pull() -> None:
        try:
            engine.pull(reference)
            ended.append("")
        except EngineError as error:
            ended.append(_last_words(error.message))
        except ImageError as error:
            ended.append(_last_words(error.message))

    # A request that hangs cannot be taken back; it ends with the process.
    thread = threading.Thread(target=pull, daemon=True, name="pull")
    thread.start()
    thread.join(PULL_SECONDS)
    return ended[0] if ended else f"no answer within {PULL_SECONDS:.0f} s"


def _last_words(message: str) -> str:
    return message.strip().splitlines()[-1].rpartition(": ")[2]


def _check_architecture(engine: Engine, base: BaseImage) -> None:
    theirs = engine.info().architecture
    ours = platform.machine()
    if kernel_name(theirs) != kernel_name(ours):
        raise ImageError(
            f"No registry has {base.pull} for this engine, and here only {ours} can be "
            f"bootstrapped while the engine runs {theirs}.",
            f"Load it there by hand: `docker pull {base.pull}` or `docker load`.",
        )


def _need_mmdebstrap(base: BaseImage, on_line: OnLine) -> None:
    if shutil.which("mmdebstrap"):
        return
    try:
        packages(["mmdebstrap"], on_line)
    except EngineError as error:
        raise ImageError(
            f"{base.pull} cannot be pulled, and mmdebstrap, which would make it of packages, "
            f"is missing. {error.message}",
            error.next_step or "Install mmdebstrap, or let the engine reach a registry.",
        ) from error


def _command(bootstrap: Bootstrap, archive: Path, proxies: list[str]) -> list[str]:
    hooks = [
        # Options for this run alone; what they name is of this machine.
        'rm -f "$1/etc/apt/apt.conf.d/99mmdebstrap"',
        'rm -rf "$1"/var/log/* "$1"/var/cache/ldconfig/aux-cache "$1"/etc/machine-id',
        'find "$1/usr/share/locale" "$1/usr/share/man" -mindepth 1 -delete',
    ]
    return [
        "mmdebstrap",
        f"--variant={bootstrap.variant}",
        "--format=tar",
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in bootstrap.exclude),
        *(f"--aptopt={option}" for option in proxies),
        *(f"--customize-hook={hook}" for hook in hooks),
        bootstrap.suite,
        str(archive),
    ]


def _proxies() -> list[str]:
    """Return the proxies that the host's apt is set up with, as its options."""
    if not shutil.which("apt-config"):
        return []
    said = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=False)
    return re.findall(r'^(Acquire::https?::Proxy "[^"]+");$', said.stdout, re.MULTILINE)


def _run(command: list[str], bootstrap: Bootstrap, on_line: OnLine) -> None:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(bootstrap.modified_before)}
    last: list[str] = []
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            for line in process.stdout or ():
                last = [*last, line.rstrip()][-_LAST_LINES:]
                on_line(line.rstrip())
        except BaseException:  # an interrupt: it must not go on unseen
            process.terminate()
            raise
    if process.returncode:
        printed = "".join(f"\n    {line}" for line in last)
        raise ImageError(
            f"mmdebstrap could not make {bootstrap.suite}:{printed}",
            "See that apt-get reaches its packages from here, then build again.",
        )
