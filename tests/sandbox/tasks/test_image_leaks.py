"""What a task's image must not give away: the fix, hidden tests, other releases, in any layer."""

import shutil
import tarfile
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine, ImageInfo
from sandbox.model import places
from sandbox.tasks import library
from sandbox.tasks.images import BuiltImage, Images
from sandbox.tasks.images.image_secrets import Secrets, secrets
from sandbox.tasks.images.leaks import leaks
from sandbox.tasks.library import LoadedTask
from sandbox.tasks.sources import Sources

pytestmark = pytest.mark.engine

NAME = "humanize/file-sizes"


@pytest.fixture(scope="module")
def image(engine: Engine) -> BuiltImage:
    return Images(engine, places.cache()).ensure(library.load(NAME), print)


@pytest.fixture(scope="module")
def secret() -> Secrets:
    return secrets(library.load(NAME), Sources(places.cache()), print)


def test_the_image_gives_nothing_away(engine: Engine, image: BuiltImage, secret: Secrets) -> None:
    assert b"if abs_bytes < unit:" in secret.lines
    assert b"def test_signature_is_what_it_was() -> None:" in secret.test_lines
    assert {"task.yaml", "defect.patch", "test_size_units.py"} <= set(secret.files.values())
    assert "src/humanize/filesize.py of release 4.12.3" in secret.files.values()
    assert leaks(engine, image.tag, secret) == []


PLANTED = """\
FROM {tag}
COPY test_size_units.py task.yaml filesize.py /home/agent/
RUN rm /home/agent/test_size_units.py /home/agent/task.yaml /home/agent/filesize.py
ENV HINT="if abs_bytes < unit:"
USER agent
WORKDIR /home/agent/humanize
RUN sed -i 's|if round.*:|if abs_bytes < unit:|' src/humanize/filesize.py && \\
    git stash -q && git stash drop -q
"""


@pytest.mark.slow
def test_what_is_planted_is_found(
    engine: Engine, image: BuiltImage, secret: Secrets, tmp_path: Path
) -> None:
    loaded = library.load(NAME)
    planted(engine, image, loaded, tmp_path)
    try:
        found = "\n".join(leaks(engine, "sandbox/test-leaks:1", secret))
    finally:
        engine.remove_image("sandbox/test-leaks:1")
    assert "/home/agent/task.yaml is task.yaml" in found
    assert "/home/agent/test_size_units.py is test_size_units.py" in found
    assert "/home/agent/filesize.py is src/humanize/filesize.py of release 4.9.0" in found
    assert "the configuration holds a line of the oracle's fix: if abs_bytes < unit:" in found
    assert "is shown by nothing" in found
    assert "of release 4.12.3" in found


def planted(engine: Engine, image: BuiltImage, loaded: LoadedTask, folder: Path) -> ImageInfo:
    """Build an image with one leak of each kind, most of them deleted in a later layer."""
    source = Sources(places.cache()).fetch(loaded.repository.releases[0].source, print)
    with tarfile.open(source) as archive:
        upstream = archive.extractfile("humanize-4.9.0/src/humanize/filesize.py")
        assert upstream
        (folder / "filesize.py").write_bytes(upstream.read())
    shutil.copy(loaded.folder / "task.yaml", folder)
    shutil.copy(loaded.folder / "hidden" / "tests" / "test_size_units.py", folder)
    (folder / "Dockerfile").write_text(PLANTED.format(tag=image.tag))
    return engine.build(
        folder, tag="sandbox/test-leaks:1", labels={}, network="none", on_line=print
    )
