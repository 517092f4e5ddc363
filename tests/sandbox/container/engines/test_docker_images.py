import re
import tarfile
from pathlib import Path

import pytest

from sandbox.container.engines import docker_images
from sandbox.container.engines.base import Engine, SessionSpec
from sandbox.container.engines.progress import failure, follow
from sandbox.model.errors import ImageError
from sandbox.model.session import Command
from tests.sandbox.container.engines.conftest import TAG

MADE = f"{TAG}-made"
LABELS = {"sandbox.test.odd": 'a $b "c" \\d'}


@pytest.fixture
def context(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("content\n")
    return tmp_path


def build(engine: Engine, context: Path, *steps: str) -> list[str]:
    (context / "Dockerfile").write_text("\n".join([f"FROM {TAG}", *steps]) + "\n")
    lines: list[str] = []
    engine.build(context, tag=MADE, labels=LABELS, network="none", on_line=lines.append)
    return lines


@pytest.mark.engine
@pytest.mark.slow
def test_an_image_is_built_run_saved_removed_and_loaded(
    docker: Engine, context: Path, tmp_path: Path
) -> None:
    lines = build(docker, context, "COPY file /copied", 'RUN ["/bin/mkdir", "/made"]')
    assert any("COPY file /copied" in line for line in lines)
    image = docker.image(MADE)
    assert image is not None
    assert image.labels.items() >= LABELS.items()
    with docker.start(SessionSpec(MADE)) as session:
        assert session.read("/copied") == b"content\n"
        assert session.run(Command(("/bin/ls", "/made"))).exit_code == 0
    saved = tmp_path / "saved.tar"
    docker.save(MADE, saved)
    with tarfile.open(saved) as archive:
        assert "manifest.json" in archive.getnames()
    docker.remove_image(MADE)
    assert docker.image(MADE) is None
    loaded = docker.load(saved, tag=MADE)
    assert (loaded.id, loaded.labels) == (image.id, image.labels)
    docker.remove_image(MADE)
    saved.write_bytes(b"no archive")
    for damaged in (saved, tmp_path / "missing.tar"):
        with pytest.raises(ImageError):
            docker.load(damaged, tag=MADE)


@pytest.mark.engine
def test_a_build_that_fails_ends_with_its_last_lines(docker: Engine, context: Path) -> None:
    with pytest.raises(ImageError) as caught:
        build(docker, context, 'RUN ["/bin/sh", "-c", "echo why; exit 7"]')
    assert re.search(r"(code:|status) 7\b", caught.value.message)
    assert "    why" in caught.value.message.splitlines()
    assert docker.image(MADE) is None


@pytest.mark.engine
def test_a_build_that_says_nothing_ends(
    docker: Engine, context: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docker_images, "SILENT_SECONDS", 2)
    with pytest.raises(ImageError, match="a step printed nothing for 2 s"):
        build(docker, context, 'RUN ["/bin/sleep", "1000"]')
    assert docker.image(MADE) is None


@pytest.mark.engine
@pytest.mark.parametrize("step", ["NONSENSE", "COPY missing /", "FROM nowhere.invalid/none:1"])
def test_a_dockerfile_that_is_wrong_is_an_error(docker: Engine, context: Path, step: str) -> None:
    with pytest.raises(ImageError, match=f"Building {MADE} failed"):
        build(docker, context, step)


@pytest.mark.engine
def test_an_archive_that_is_broken_is_not_imported(docker: Engine, tmp_path: Path) -> None:
    broken = tmp_path / "broken.tar"
    broken.write_bytes(b"no archive" * 1000)
    for archive in (broken, tmp_path / "missing.tar"):
        with pytest.raises(ImageError, match=archive.name):
            docker.import_image(archive, tag=MADE, labels={})
    assert docker.image(MADE) is None


@pytest.mark.engine
def test_labels_of_an_imported_image_are_kept(docker: Engine, root_archive: Path) -> None:
    plain = {"sandbox.test.plain": "a name: 1"}
    # Podman keeps the escapes of a label's value, too; ours are names and digests.
    labels = plain if docker.info().name == "podman" else plain | LABELS
    made = docker.import_image(root_archive, tag=MADE, labels=labels)
    assert made.labels.items() >= labels.items()
    docker.remove_image(MADE)


@pytest.mark.engine
def test_an_image_that_cannot_be_pulled_is_an_error(docker: Engine) -> None:
    with pytest.raises(ImageError, match=r"nowhere\.invalid"):
        docker.pull("nowhere.invalid/none:1")


@pytest.mark.engine
def test_saving_where_no_file_can_be_is_an_error(docker: Engine, tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="cannot be written"):
        docker.save(TAG, tmp_path / "none" / "file.tar")
    with pytest.raises(ImageError, match="missing"):
        docker.save("sandbox-test-missing:1", tmp_path / "file.tar")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_named() -> None:
    error = failure("Building x", "write /layer: no space left on device", ["Step 1"])
    assert error.message.startswith("The engine's disk is full")
    assert "sandbox gc" in error.next_step


def test_colours_and_bars_are_not_passed_on() -> None:
    lines: list[str] = []
    events: list[dict[str, object]] = [
        {"stream": "\x1b[91mred\x1b[0m\n\n"},
        {"status": "Downloading", "progressDetail": {"current": 1}, "id": "layer"},
        {"status": "Done", "id": "layer"},
        {"aux": {"ID": "sha256:1"}},
    ]
    follow(events, "Building x", lines.append)
    assert lines == ["red", "layer Done"]
