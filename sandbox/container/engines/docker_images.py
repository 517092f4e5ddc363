"""Images of a Docker engine: look up, pull, build, import, save."""

import contextlib
import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import requests
import urllib3

from sandbox.container.engines import progress
from sandbox.container.engines.base import MANAGED, NOTHING, ImageInfo
from sandbox.container.engines.context import archive as tar
from sandbox.container.engines.docker import APIClient, MissingError, translated
from sandbox.model.errors import EngineError, ImageError

SILENT_SECONDS = 600.0
"""How long a step of a build may print nothing."""

BRIDGES = ("bridge", "podman")
"""What engines call the network that a container has where none is named."""


class DockerImages:
    """The part of an engine that makes images."""

    def __init__(self, client: APIClient) -> None:
        self._client = client

    def image(self, reference: str) -> ImageInfo | None:
        """The image with this tag or id, None where there is none."""
        try:
            with translated(f"Looking at the image {reference}"):
                found = self._client.inspect_image(reference)  # type: ignore[no-untyped-call]
        except MissingError:
            return None
        config = found.get("Config") or {}
        variables = (each.partition("=") for each in config.get("Env") or ())
        return ImageInfo(
            found["Id"],
            tuple(found.get("RepoTags") or ()),
            found["Size"],
            config.get("Labels") or {},
            {name: value for name, _, value in variables},
        )

    def images(self, label: str) -> list[ImageInfo]:
        """All images that carry a label (`key` or `key=value`)."""
        with translated("Listing images"):
            found = self._client.images(filters={"label": label})
        return [
            ImageInfo(
                each["Id"], tuple(each.get("RepoTags") or ()), each["Size"], each["Labels"] or {}
            )
            for each in found
        ]

    def pull(self, reference: str) -> ImageInfo:
        """Fetch an image from its registry; `ImageError` where none answers or has it."""
        doing = f"Pulling {reference}"
        name, _, tag = reference.rpartition(":")
        if not name or "/" in tag:
            name, tag = reference, "latest"
        with translated(doing, image=True):
            events = self._client.pull(name, tag=tag, stream=True, decode=True)
            progress.follow(events, doing, lambda _line: None)
        return self._made(reference)

    def bridged(self) -> bool:
        """Whether it has a network of its own that leads out, which a build can have."""
        with translated("Listing networks"):
            found = self._client.networks(filters={"driver": "bridge"})
        return any(each.get("Name") in BRIDGES for each in found)

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
        doing = f"Building {tag}"
        with _silent_no_longer(doing), translated(doing, image=True):
            events = self._client.build(
                fileobj=_Pieces(context),  # type: ignore[arg-type]
                custom_context=True,
                tag=tag,
                labels={**labels, MANAGED: "1"},
                network_mode=network,
                buildargs=dict(arguments),
                rm=True,
                forcerm=True,
                decode=True,
                timeout=SILENT_SECONDS,  # type: ignore[arg-type]
            )
            progress.follow(events, doing, on_line)
        return self._made(tag)

    def import_image(self, archive: Path, *, tag: str, labels: Mapping[str, str]) -> ImageInfo:
        """Make an image of a tar archive of a root file system."""
        doing = f"Importing {archive} as {tag}"
        if not archive.is_file():
            raise ImageError(f"{doing} failed: there is no such file.")
        name, _, version = tag.rpartition(":")
        changes = [
            f"LABEL {_quoted(key)}={_quoted(value)}"
            for key, value in {**labels, MANAGED: "1"}.items()
        ]
        with translated(doing, image=True):
            answer = self._client.import_image_from_file(
                str(archive),
                repository=name or tag,
                tag=version if name else "latest",
                changes=changes,
            )
        progress.follow(map(json.loads, answer.splitlines()), doing, lambda _line: None)
        return self._made(tag)

    def save(self, reference: str, target: Path) -> None:
        """Write an image, all layers included, as a tar archive."""
        partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
        try:
            with translated(f"Saving {reference}", image=True), partial.open("wb") as file:
                for piece in self._client.get_image(reference):
                    file.write(piece)
            partial.replace(target)
        except OSError as error:
            raise ImageError(f"{target} cannot be written: {error.strerror}.") from error
        finally:
            partial.unlink(missing_ok=True)

    def load(self, archive: Path, *, tag: str) -> ImageInfo:
        """Add the image of this tag that `save` wrote; ImageError where that cannot be."""
        doing = f"Loading {archive}"
        try:
            with archive.open("rb") as file, translated(doing, image=True):
                events = self._client.load_image(file)  # type: ignore[no-untyped-call]
                progress.follow(events, doing, lambda _line: None)
        except OSError as error:
            raise ImageError(f"{doing} failed: {error.strerror}.") from error
        return self._made(tag)

    def remove_image(self, reference: str) -> None:
        """Remove an image; no error where it is gone."""
        with contextlib.suppress(MissingError), translated(f"Removing the image {reference}"):
            self._client.remove_image(reference)

    def _made(self, tag: str) -> ImageInfo:
        image = self.image(tag)
        if image is None:
            raise ImageError(f"The engine reported success, but has no image {tag}.")
        return image


class _Pieces:
    """The build context as the library wants it: an iterable without a length."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __iter__(self) -> Iterator[bytes]:
        return tar(self._folder)


def _quoted(text: str) -> str:
    """A word of a Dockerfile."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    return f'"{escaped}"'


@contextlib.contextmanager
def _silent_no_longer(doing: str) -> Iterator[None]:
    """Tell of a step that prints nothing for too long; the engine ends it with the request."""
    try:
        yield
    except EngineError as error:
        silent = (requests.Timeout, urllib3.exceptions.ReadTimeoutError, TimeoutError)
        told = f"a step printed nothing for {SILENT_SECONDS:.0f} s"
        if isinstance(error.__cause__, silent) or "timed out" in str(error.__cause__).lower():
            raise ImageError(f"{doing} failed: {told}.") from error
        raise
