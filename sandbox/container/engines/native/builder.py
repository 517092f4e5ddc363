"""Images out of Dockerfiles: all that one does becomes one layer over those of its base."""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.container.engines import progress
from sandbox.container.engines.context import archive as packed
from sandbox.container.engines.native import bundle, crun, dockerfile, layers, mounting, profile
from sandbox.container.engines.native.dockerfile import Line
from sandbox.container.engines.native.store import ImageStore, StoredImage, configuration
from sandbox.model.errors import ImageError

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SHOWN = 200
"""Characters of a command that an error shows."""
RESOLVING = ("/etc/resolv.conf", "/etc/hosts")
PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "all_proxy")


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be built."""

    context: Path
    tag: str
    labels: Mapping[str, str]
    network: str
    arguments: Mapping[str, str]
    on_line: Callable[[str], None]


@dataclass(slots=True)
class Build:
    """A Dockerfile that is carried out line by line."""

    order: Order
    folder: Path
    """Holds `upper`, what was written until now, and what a mount needs beside it."""
    base: StoredImage | None = None
    lower: list[Path] = field(default_factory=list)
    arguments: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    user: str = ""
    workdir: str = "/"
    last: "deque[str]" = field(default_factory=lambda: deque(maxlen=progress.LAST_LINES))

    @property
    def variables(self) -> dict[str, str]:
        """What a line may name: arguments, and what was set after them."""
        return {**self.arguments, **self.environment}

    def argument(self, line: Line) -> None:
        """Take an argument's value, or its default."""
        name, equals, _ = line.rest.partition("=")
        value = self.order.arguments.get(name)
        if value is None and equals:
            (value,) = dockerfile.pairs(line, self.variables).values()
        if value is not None:
            self.arguments[name] = value

    def run(self, line: Line) -> None:
        """Carry out a command in the image."""
        given = {name: self.order.arguments[name] for name in self._proxies()}
        variables = {"PATH": DEFAULT_PATH, **given, **self.variables}
        step = bundle.Step(
            dockerfile.command(line),
            variables,
            self.user,
            self.workdir,
            alone=self.order.network == "none",
            mounts=self._resolving(),
        )
        name = crun.build_name(self.folder)
        capabilities = bundle.names(bundle.BUILDING)
        config = bundle.building(
            step, self.folder / "root", name, profile.read(os.uname().machine, capabilities)
        )
        (self.folder / "config.json").write_text(json.dumps(config))
        options = mounting.overlay(self.lower, self.folder)
        with crun.start(name, self.folder, options, subprocess.PIPE, subprocess.STDOUT) as process:
            try:
                self._follow(process)
            except BaseException:
                crun.delete(name)
                process.kill()
                raise
        if process.returncode:
            said = line.rest if len(line.rest) <= SHOWN else f"{line.rest[:SHOWN]}..."
            reason = f"line {line.number}, `{said}`, ended with status {process.returncode}"
            raise progress.failure(f"Building {self.order.tag}", reason, self.last)

    def numbered(self, line: Line, user: str) -> str:
        """Give a user, or `user:group`, by numbers: as the image's own files say."""
        name, colon, group = user.partition(":")
        try:
            number, first = self._found(name, "passwd")
            return f"{number}:{self._found(group, 'group')[0] if colon else first}"
        except KeyError as error:
            raise line.refused(f"the image knows no {error.args[0]}") from error

    def _found(self, name: str, file: str) -> tuple[str, str]:
        """The number of a user or group, and the number after it in its line."""
        if name.isdigit():
            return name, name
        for folder in (self.folder / "upper", *self.lower):
            path = folder / "etc" / file
            if path.is_file() and not path.is_symlink():
                for row in path.read_text("utf-8", "replace").splitlines():
                    fields = row.split(":")
                    if fields[0] == name:
                        return fields[2], fields[3]
                break
        raise KeyError(name)

    def copy(self, line: Line) -> None:
        """Lay files of the context into the image."""
        sources, target, owner = dockerfile.copied(line, self.variables)
        place = os.path.normpath(f"{self.workdir}/{target}" if target[0] != "/" else target)
        many = target.endswith("/") or len(sources) > 1
        for source in sources:
            path = Path(os.path.normpath(self.order.context / source.lstrip("/")))
            if not path.is_relative_to(self.order.context) or not path.exists():
                raise line.refused(f"the context has no {source}")
            if path.is_dir():
                self._lay(path, place, owner, source)
                continue
            above, name = (place, path.name) if many else os.path.split(place)
            with tempfile.TemporaryDirectory(dir=self.folder) as alone:
                shutil.copy(path, f"{alone}/{name}")
                self._lay(Path(alone), above, owner, source)

    def _lay(self, folder: Path, target: str, owner: str, named: str) -> None:
        program = [sys.executable, "-m", "sandbox.container.engines.native.laying"]
        root = self.folder / "root"
        with mounting.start(
            [*program, str(root), target, owner],
            root,
            mounting.overlay(self.lower, self.folder),
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stdin is not None  # noqa: S101 - it is a pipe
            with contextlib.suppress(BrokenPipeError):
                for piece in packed(folder):
                    process.stdin.write(piece)
                process.stdin.close()
            said = process.stderr.read() if process.stderr else b""
        if process.returncode:
            why = said.decode(errors="replace").strip().rpartition("\n")[2]
            raise ImageError(f"{named} cannot be laid at {target}: {why}.")

    def _resolving(self) -> dict[str, Path]:
        """Copy what names are found by, where the network is this host's."""
        if self.order.network == "none":
            return {}
        found = {path: self.folder / Path(path).name for path in RESOLVING}
        for path, copy in found.items():
            copy.write_bytes(Path(path).read_bytes() if Path(path).exists() else b"")
        return found

    def forget_places(self) -> None:
        """Remove the empty files that were made for others to be mounted on."""
        for path in RESOLVING:
            place = self.folder / "upper" / path.lstrip("/")
            if place.is_file() and not place.is_symlink() and not place.stat().st_size:
                place.unlink()

    def _proxies(self) -> list[str]:
        return [name for name in self.order.arguments if name.lower() in PROXIES]

    def _follow(self, process: "subprocess.Popen[bytes]") -> None:
        for piece in process.stdout or ():
            printed = progress.COLOURS.sub("", piece.decode(errors="replace")).strip()
            if printed:
                self.last.append(printed)
                self.order.on_line(printed)
        process.wait()


def build(store: ImageStore, order: Order, find: Callable[[str], StoredImage]) -> StoredImage:
    """Carry out the Dockerfile of a context; `find` gives the image that it begins with."""
    if order.network == "bridge":
        raise ImageError(
            f"Building {order.tag} failed: the native engine has no network of its own.",
            "Choose the network `host` or `none`, or a Docker engine.",
        )
    with store.locked():
        store.sweep()
    text = (order.context / "Dockerfile").read_text(encoding="utf-8")
    with store.partial() as folder:
        for part in ("upper", "work", "root"):
            (folder / part).mkdir(mode=0o755)
        work = Build(order, folder)
        for line in dockerfile.lines(text):
            order.on_line(f"{line.instruction} {line.rest}")
            _carry_out(work, line, store, find)
        if work.base is None:
            raise ImageError(f"Building {order.tag} failed: its Dockerfile has no FROM.")
        work.forget_places()
        names = list(work.base.layers)
        if any((folder / "upper").iterdir()):
            names.append(_kept(store, folder))
        return _noted(
            store, order.tag, names, work.environment, {**work.labels, **order.labels}, work.user
        )


def imported(store: ImageStore, archive: Path, tag: str, labels: Mapping[str, str]) -> StoredImage:
    """Make an image of a root file system's archive."""
    with archive.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0)
        name = store.add_layer(file, digest)
    return _noted(store, tag, [name], {}, dict(labels), "")


def _carry_out(
    work: Build, line: Line, store: ImageStore, find: Callable[[str], StoredImage]
) -> None:
    match line.instruction:
        case "FROM":
            if work.base is not None:
                raise line.refused("the native engine builds in one stage only")
            base = work.base = find(dockerfile.expanded(line.rest, work.arguments).split()[0])
            store.build_upon(work.folder, base)
            work.lower = store.paths(base.layers)
            work.environment = dict(base.environment)
            work.labels = dict(base.labels)
            work.user = work.numbered(line, base.user) if base.user else ""
        case "ARG":
            work.argument(line)
        case "ENV":
            work.environment |= dockerfile.pairs(line, work.variables)
        case "LABEL":
            work.labels |= dockerfile.pairs(line, work.variables)
        case "USER":
            work.user = work.numbered(line, dockerfile.expanded(line.rest, work.variables))
        case "WORKDIR":
            named = dockerfile.expanded(line.rest, work.variables)
            work.workdir = os.path.normpath(Path(work.workdir) / named)
        case "RUN":
            work.run(line)
        case "COPY":
            work.copy(line)


def _kept(store: ImageStore, folder: Path) -> str:
    """Keep what was written as a layer; give its name."""
    archive = folder / "layer.tar"
    digest = layers.pack(folder / "upper", archive)
    archive.unlink()
    return store.adopt(folder / "upper", digest)


def _noted(
    store: ImageStore,
    tag: str,
    names: list[str],
    environment: dict[str, str],
    labels: dict[str, str],
    user: str,
) -> StoredImage:
    image = StoredImage(
        id="",
        layers=tuple(names),
        environment=environment,
        labels=labels,
        user=user,
        size=store.size(names),
    )
    key = hashlib.sha256(configuration(image, names)).hexdigest()
    return store.add(image.model_copy(update={"id": f"sha256:{key}"}), (tag,))
