"""Images of the native engine: those that it made, and those that a Docker engine here has."""

import functools
import tarfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from sandbox.container.engines.base import MANAGED, NOTHING, Engine, ImageInfo
from sandbox.container.engines.native import builder
from sandbox.container.engines.native.store import ImageStore, StoredImage
from sandbox.model.errors import EngineError, ImageError
from sandbox.model.scratch import Scratch


class NativeImages:
    """The part of the engine that makes images."""

    def __init__(self, folder: Path, used: Callable[[], Iterable[str]]) -> None:
        """`used` gives the layers that containers need."""
        self._store = ImageStore(folder)
        self._used = used

    def image(self, reference: str) -> ImageInfo | None:
        """The image with this tag or id, copied from a Docker engine if need be; None without."""
        found = self._store.find(reference) or self._copied(reference)
        return self._store.info(found) if found else None

    def images(self, label: str) -> list[ImageInfo]:
        """All images that carry a label (`key` or `key=value`)."""
        key, _, value = label.partition("=")
        return [
            self._store.info(each)
            for each in self._store.all()
            if key in each.labels and value in ("", each.labels[key])
        ]

    def pull(self, reference: str) -> ImageInfo:
        """Give an image that a Docker engine here has; ImageError, for no registry is asked."""
        if found := self.image(reference):
            return found
        raise ImageError(
            f"Pulling {reference} failed: the native engine asks no registry.",
            f"Let a Docker engine of this machine have it: `docker pull {reference}`.",
        )

    def bridged(self) -> bool:
        """It has no network of its own."""
        return False

    def build(
        self,
        context: Path,
        *,
        tag: str,
        labels: Mapping[str, str],
        network: str,
        on_line: Callable[[str], None],
        arguments: Mapping[str, str] = NOTHING,
    ) -> ImageInfo:
        """Build a folder that holds a Dockerfile; each line that is printed goes to `on_line`."""
        order = builder.Order(
            context, tag, {**labels, MANAGED: "1"}, network, dict(arguments), on_line
        )
        return self._store.info(builder.build(self._store, order, self._stored))

    def import_image(self, archive: Path, *, tag: str, labels: Mapping[str, str]) -> ImageInfo:
        """Make an image of a tar archive of a root file system."""
        if not archive.is_file():
            raise ImageError(f"Importing {archive} as {tag} failed: there is no such file.")
        labels = {**labels, MANAGED: "1"}
        return self._store.info(builder.imported(self._store, archive, tag, labels))

    def save(self, reference: str, target: Path) -> None:
        """Write an image, all layers included, as a tar archive."""
        self._store.save(self._stored(reference), target)

    def load(self, archive: Path, *, tag: str) -> ImageInfo:
        """Add the image of this tag that `save` wrote; ImageError where that cannot be."""
        try:
            return self._store.info(self._store.load(archive, (tag,)))
        except (OSError, tarfile.TarError, ValueError, KeyError) as error:
            raise ImageError(f"Loading {archive} failed: {error}.") from error

    def remove_image(self, reference: str) -> None:
        """Remove an image; no error where it is gone."""
        with self._store.locked():
            self._store.remove(reference, self._used())

    def _release(self) -> None:
        """Close the connection to a Docker engine, where one was needed."""
        engine = self.__dict__.pop("_docker", None)
        if engine is not None:
            engine.close()

    def _stored(self, reference: str) -> StoredImage:
        found = self._store.find(reference) or self._copied(reference)
        if found is None:
            raise EngineError(f"The engine has no image {reference}.", "Run `sandbox build`.")
        return found

    def _copied(self, reference: str) -> StoredImage | None:
        """Copy an image of a Docker engine on this machine; None where it has none of that name."""
        if not self._docker:
            return None
        found = self._docker.image(reference)
        if found is None:
            return None
        with Scratch("image") as folder:
            self._docker.save(reference, folder / "image.tar")
            tags = found.tags or (reference,)
            return self._store.load(folder / "image.tar", tags, found.id)

    @functools.cached_property
    def _docker(self) -> Engine | None:
        from sandbox.container.engines.docker_engine import DockerEngine

        try:
            return DockerEngine.connect()
        except EngineError:
            return None
