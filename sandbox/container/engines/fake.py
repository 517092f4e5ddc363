"""An engine that needs no container: files in memory, commands answered by a script.

For trying out agents, policies and tasks. It keeps the contract of `base.py`; what it cannot do
is run a program: the script says what each command prints and does.
"""

import hashlib
import platform
import shutil
import tarfile
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path

from sandbox.container.engines.base import (
    MANAGED,
    NOTHING,
    ContainerInfo,
    EngineInfo,
    ImageInfo,
    SessionSpec,
)
from sandbox.container.engines.context import archive
from sandbox.container.engines.fake_files import Files
from sandbox.container.engines.fake_session import Answer, FakeSession, Script
from sandbox.model.errors import EngineError, ImageError

__all__ = ["Answer", "FakeEngine", "Files", "Script"]


class FakeEngine:
    """Images and sessions in memory."""

    def __init__(self, script: Script | None = None) -> None:
        self._script = script or {}
        self._images: dict[str, tuple[ImageInfo, Path | None]] = {}
        self._sessions: dict[str, tuple[SessionSpec, FakeSession]] = {}
        self._numbers = count(1)

    def info(self) -> EngineInfo:
        """Version and abilities."""
        here = platform.uname()
        return EngineInfo(
            "fake", "0", "memory", "memory", "2", here.release, here.machine, "", local=False
        )

    def free_bytes(self) -> None:
        """None: it has no disk."""

    def image(self, reference: str) -> ImageInfo | None:
        """The image with this tag or id."""
        for info, _ in self._images.values():
            if reference == info.id or reference in info.tags:
                return info
        return None

    def images(self, label: str) -> list[ImageInfo]:
        """All images that carry a label."""
        return [info for info, _ in self._images.values() if _carries(info.labels, label)]

    def pull(self, reference: str) -> ImageInfo:
        """Fail: there is no registry."""
        raise ImageError(f"Pulling {reference} failed: the fake engine has no registry.")

    def bridged(self) -> bool:
        """Never: it has no network."""
        return False

    def build(
        self,
        context: Path,
        *,
        tag: str,
        labels: Mapping[str, str],
        network: str,  # noqa: ARG002 - part of the contract
        on_line: Callable[[str], None],
        arguments: Mapping[str, str] = NOTHING,  # noqa: ARG002 - as above
    ) -> ImageInfo:
        """Print the steps of the Dockerfile; nothing is run."""
        try:
            steps = (context / "Dockerfile").read_text().splitlines()
        except OSError as error:
            raise ImageError(f"Building {tag} failed: {error}.") from error
        for step in steps:
            on_line(step)
        content = b"".join(archive(context))
        return self._add(tag, content, labels, None)

    def import_image(self, archive: Path, *, tag: str, labels: Mapping[str, str]) -> ImageInfo:
        """Make an image of a tar archive of a root file system."""
        try:
            Files().load(archive)
            content = archive.read_bytes()
        except (OSError, tarfile.TarError) as error:
            raise ImageError(f"Importing {archive} as {tag} failed: {error}.") from error
        return self._add(tag, content, labels, archive)

    def save(self, reference: str, target: Path) -> None:
        """Write an image's archive."""
        info = self.image(reference)
        root = self._images[info.id][1] if info else None
        if root is None:
            raise ImageError(f"Saving {reference} failed: the fake engine does not hold it.")
        shutil.copyfile(root, target)

    def load(self, archive: Path, *, tag: str) -> ImageInfo:
        """Add the image of this tag that `save` wrote; ImageError where that cannot be."""
        return self.import_image(archive, tag=tag, labels={})

    def remove_image(self, reference: str) -> None:
        """Remove an image; no error where it is gone."""
        if info := self.image(reference):
            del self._images[info.id]

    def start(self, spec: SessionSpec) -> FakeSession:
        """Start a session on a copy of the image's files."""
        info = self.image(spec.image)
        if info is None:
            raise EngineError(f"The engine has no image {spec.image}.", "Run `sandbox build`.")
        files = Files()
        if root := self._images[info.id][1]:
            files.load(root)
        name = f"fake-{next(self._numbers)}"
        session = FakeSession(name, files, self._script, lambda: self.remove_container(name))
        self._sessions[name] = spec, session
        return session

    def containers(self, label: str) -> list[ContainerInfo]:
        """All containers that carry a label."""
        return [
            ContainerInfo(name, labels, running=True)
            for name, (spec, _) in self._sessions.items()
            if _carries(labels := {**spec.labels, MANAGED: "1"}, label)
        ]

    def remove_container(self, container: str) -> None:
        """Remove a container; no error where it is gone."""
        if held := self._sessions.pop(container, None):
            held[1].lose()

    def close(self) -> None:
        """Nothing to release."""

    def _add(
        self, tag: str, content: bytes, labels: Mapping[str, str], root: Path | None
    ) -> ImageInfo:
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        info = ImageInfo(digest, (tag,), len(content), {**labels, MANAGED: "1"})
        self._images[digest] = info, root
        return info


def _carries(labels: Mapping[str, str], label: str) -> bool:
    key, equals, value = label.partition("=")
    return key in labels and (not equals or labels[key] == value)
