"""Images on disk: layers by their content, and what each image is made of.

`layers/<digest>/` holds a layer's files; `images/<id>.json` names an image's layers, lowest first,
and its configuration; `tags/<quoted tag>` is a link to one of those.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import secrets
import shutil
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO
from urllib.parse import quote, unquote

from sandbox.container.engines.base import ImageInfo
from sandbox.container.engines.native import crun, layers
from sandbox.model.base import Record
from sandbox.model.errors import ImageError

BASE = "base.json"
NAME = 24
"""Hexadecimal digits of a digest by which a layer's folder is called: a mount names them all."""


class StoredImage(Record):
    """An image, as its file says."""

    id: str
    """`sha256:...`"""
    layers: tuple[str, ...]
    """Names of folders, the lowest first."""
    environment: dict[str, str]
    labels: dict[str, str]
    user: str
    size: int
    """Bytes of all layers together."""


class ImageStore:
    """The images of one folder; several processes may use it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._layers, self._images, self._tags = (
            folder / name for name in ("layers", "images", "tags")
        )
        for each in (self._layers, self._images, self._tags):
            each.mkdir(parents=True, exist_ok=True, mode=0o700)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep layers as they are for a moment: nobody else notes a use of one, or removes one."""
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def has(self, image: StoredImage) -> bool:
        """Whether all layers of an image are there still."""
        return all((self._layers / name).is_dir() for name in image.layers)

    def find(self, reference: str) -> StoredImage | None:
        """The image with this tag or id, None where there is none."""
        if reference.startswith("sha256:"):
            path = self._images / f"{reference.removeprefix('sha256:')}.json"
        else:
            path = self._tags / quote(whole(reference), safe="")
        try:
            return StoredImage.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return None

    def info(self, image: StoredImage) -> ImageInfo:
        """What is told of an image."""
        tags = tuple(tag for tag, key in self._tagged() if key == image.id)
        return ImageInfo(image.id, tags, image.size, image.labels, image.environment)

    def all(self) -> list[StoredImage]:
        """All images."""
        found = sorted(self._images.glob("*.json"))
        return [StoredImage.model_validate_json(path.read_bytes()) for path in found]

    def add_layer(self, archive: IO[bytes], digest: str) -> str:
        """Unpack a layer, unless it is there; give its name."""
        name = digest[:NAME]
        if not (self._layers / name).exists():
            with self.partial() as partial:
                layers.unpack(archive, partial)
                self._keep(partial, name)
        return name

    def adopt(self, folder: Path, digest: str) -> str:
        """Take a folder as a layer; give its name."""
        name = digest[:NAME]
        self._keep(folder, name)
        return name

    def paths(self, names: Iterable[str]) -> list[Path]:
        """Where some layers lie, the topmost first.

        One that comes twice (an empty one does) is needed once, where it hides most: the kernel
        refuses it a second time.
        """
        return [self._layers / name for name in dict.fromkeys(reversed([*names]))]

    def add(self, image: StoredImage, tags: Iterable[str]) -> StoredImage:
        """Note an image, and call it by tags; ImageError where a layer was removed meanwhile."""
        with self.locked():
            if not self.has(image):
                raise ImageError("Another process has removed a layer meanwhile.", "Build again.")
            self._note(image, tags)
        return image

    def _note(self, image: StoredImage, tags: Iterable[str]) -> None:
        path = self._images / f"{image.id.removeprefix('sha256:')}.json"
        partial = path.with_name(f".{secrets.token_hex(8)}")
        partial.write_text(image.model_dump_json())
        partial.replace(path)
        for tag in tags:
            link = self._tags / f".{secrets.token_hex(8)}"
            link.symlink_to(Path("..") / "images" / path.name)
            link.replace(self._tags / quote(whole(tag), safe=""))

    def load(self, archive: Path, tags: Iterable[str], image_id: str | None = None) -> StoredImage:
        """Add the image of an archive as `docker save` writes it.

        Its id is the digest of its configuration, where it is not known under another one.
        """
        with tarfile.open(archive) as saved:
            (entry,) = json.loads(_content(saved, "manifest.json").read())
            written = _content(saved, entry["Config"]).read()
            parsed = json.loads(written)
            pairs = zip(parsed["rootfs"]["diff_ids"], entry["Layers"], strict=True)
            names = []
            for digest, member in pairs:
                # A file of its own, for tar reads from a descriptor.
                with self._spooled(_content(saved, member)) as layer:
                    names.append(self.add_layer(layer, digest.removeprefix("sha256:")))
        config = parsed.get("config") or {}
        return self.add(
            StoredImage(
                id=image_id or f"sha256:{hashlib.sha256(written).hexdigest()}",
                layers=tuple(names),
                environment=dict(each.split("=", 1) for each in config.get("Env") or ()),
                labels=config.get("Labels") or {},
                user=config.get("User") or "",
                size=self.size(names),
            ),
            tags,
        )

    def save(self, image: StoredImage, target: Path) -> None:
        """Write an image as `docker save` does."""
        with self.partial() as folder, tarfile.open(target, "w") as archive:
            digests, members = [], []
            for number, name in enumerate(image.layers):
                packed = folder / f"{number}.tar"
                digests.append(f"sha256:{layers.pack(self._layers / name, packed)}")
                archive.add(packed, packed.name)
                members.append(packed.name)
                packed.unlink()
            config = configuration(image, digests)
            entry = {"Config": "config.json", "RepoTags": self.info(image).tags, "Layers": members}
            for name, text in (
                ("config.json", config),
                ("manifest.json", json.dumps([entry]).encode()),
            ):
                (folder / name).write_bytes(text)
                archive.add(folder / name, name)

    def remove(self, reference: str, used: Iterable[str]) -> None:
        """Forget an image, and remove the layers that no image and nobody in `used` needs.

        By a tag it is forgotten under that one, and altogether where it has no other.
        """
        self.sweep()
        image = self.find(reference)
        if image is None:
            return
        called = [tag for tag, key in self._tagged() if key == image.id]
        gone = called if reference == image.id else [whole(reference)]
        for tag in gone:
            (self._tags / quote(tag, safe="")).unlink(missing_ok=True)
        if set(called) - set(gone):
            return
        (self._images / f"{image.id.removeprefix('sha256:')}.json").unlink(missing_ok=True)
        needed = {name for each in self.all() for name in each.layers}
        needed |= {*used, *self._built_upon()}
        for name in image.layers:
            if name not in needed and (self._layers / name).exists():
                crun.erase(self._layers / name)

    def sweep(self) -> None:
        """End and remove what processes that are gone have left half made; the lock is held."""
        for left in self._layers.glob(".*"):
            with contextlib.suppress(OSError):
                descriptor = os.open(left, os.O_RDONLY | os.O_NOFOLLOW)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    crun.end(crun.build_name(left))
                    crun.erase(left)
                finally:
                    os.close(descriptor)

    def size(self, names: Iterable[str]) -> int:
        """Bytes that some layers hold."""
        return sum(_size(self._layers / name) for name in names)

    def _tagged(self) -> Iterator[tuple[str, str]]:
        for path in self._tags.iterdir():
            if not path.name.startswith("."):
                with contextlib.suppress(OSError):
                    yield unquote(path.name), f"sha256:{path.readlink().stem}"

    def _keep(self, folder: Path, name: str) -> None:
        with contextlib.suppress(OSError):  # another process has made the same one meanwhile
            folder.rename(self._layers / name)
        if not (self._layers / name).is_dir():
            raise ImageError(f"The layer {name} cannot be kept in {self._layers}.")

    @contextlib.contextmanager
    def partial(self) -> Iterator[Path]:
        """Make a folder among the layers, which is removed again unless it becomes one."""
        folder = self._layers / f".{secrets.token_hex(8)}"
        with self.locked():  # nobody sweeps it before it is locked
            folder.mkdir(mode=0o755)
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield folder
        finally:
            os.close(lock)
            crun.erase(folder)

    def build_upon(self, partial: Path, base: StoredImage) -> None:
        """Keep the layers of an image until what is made over it is done."""
        with self.locked():
            (partial / BASE).write_text(json.dumps(base.layers))

    def _built_upon(self) -> Iterator[str]:
        for path in self._layers.glob(f".*/{BASE}"):
            with contextlib.suppress(OSError, ValueError):
                yield from json.loads(path.read_text())

    @contextlib.contextmanager
    def _spooled(self, content: IO[bytes]) -> Iterator[IO[bytes]]:
        path = self._layers / f".{secrets.token_hex(8)}"
        try:
            with self.locked():
                file = path.open("w+b")
                fcntl.flock(file, fcntl.LOCK_EX)
            with file:
                shutil.copyfileobj(content, file, 1 << 20)
                file.seek(0)
                yield file
        finally:
            path.unlink(missing_ok=True)


def whole(tag: str) -> str:
    """A tag with its version, as engines complete it."""
    return tag if ":" in tag.rpartition("/")[2] else f"{tag}:latest"


def configuration(image: StoredImage, digests: list[str]) -> bytes:
    """An image's configuration; its digest is the image's id.

    https://github.com/opencontainers/image-spec/blob/main/config.md
    """
    variables = [f"{name}={value}" for name, value in image.environment.items()]
    return json.dumps(
        {
            "architecture": {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine],
            "os": "linux",
            "config": {"Env": variables, "Labels": image.labels, "User": image.user},
            "rootfs": {"type": "layers", "diff_ids": digests},
        },
        sort_keys=True,
    ).encode()


def _content(archive: tarfile.TarFile, name: str) -> IO[bytes]:
    found = archive.extractfile(name)
    if found is None:
        raise ImageError(f"The image as it was saved has no {name}.")
    return found


def _size(folder: Path) -> int:
    total = 0
    for top, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(f"{top}/{name}").st_size
    return total
