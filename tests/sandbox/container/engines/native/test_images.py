"""Images of the native engine: built, imported, copied, saved, removed."""

import json
import os
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.container.engines.base import AGENT_FILES, Engine, SessionSpec
from sandbox.container.engines.native import crun
from sandbox.container.engines.native.engine import NativeEngine
from sandbox.container.engines.native.store import ImageStore
from sandbox.model.errors import EngineError, ImageError
from sandbox.model.session import ROOT, Command
from tests.sandbox.container.engines.conftest import TAG

pytestmark = pytest.mark.engine

DOCKERFILE = f"""\
FROM {TAG}
ARG WORD=unset
ENV GREETING="hello $WORD" PATH=/bin
COPY one.txt /named
COPY one.txt two.txt /files/
COPY --chown=10001:10001 folder/ /tree/folder/
COPY --chown=10004:10004 folder/ /made/within/
WORKDIR /tree
RUN cat file > copied && rm file && echo "$GREETING" > said
USER 10001:10001
RUN id -u > /tree/who; id -g >> /tree/who
"""

Build = Callable[..., str]


@pytest.fixture
def context(tmp_path: Path) -> Path:
    folder = tmp_path / "context"
    (folder / "folder").mkdir(parents=True)
    (folder / "one.txt").write_text("one\n")
    (folder / "two.txt").write_text("two\n")
    (folder / "folder/new").write_text("new\n")
    (folder / "folder/link").symlink_to("new")
    (folder / "Dockerfile").write_text(DOCKERFILE)
    return folder


@pytest.fixture
def build(native: Engine, context: Path) -> Iterator[Build]:
    made: list[str] = []

    def work(text: str = DOCKERFILE, *, network: str = "none", **arguments: str) -> str:
        (context / "Dockerfile").write_text(text)
        tag = f"sandbox-test-native-{len(made)}:{os.getpid()}"
        made.append(tag)
        info = native.build(
            context,
            tag=tag,
            labels={"sandbox.test": "native"},
            network=network,
            arguments=arguments,
            on_line=lambda _: None,
        )
        assert info.tags == (tag,)
        return tag

    yield work
    for tag in made:
        native.remove_image(tag)


def printed(engine: Engine, tag: str, line: str) -> str:
    with engine.start(SessionSpec(tag)) as session:
        done = session.run(
            Command(("/bin/sh", "-c", line), user=ROOT, environment={"PATH": "/bin"})
        )
    return (done.stdout + done.stderr).decode()


@pytest.mark.slow
def test_a_dockerfile_is_carried_out(native: Engine, build: Build) -> None:
    tag = build(WORD="there")
    assert printed(native, tag, "cat /named /files/*") == "one\none\ntwo\n"
    assert printed(native, tag, "cat /tree/copied /tree/said") == "one\ntwo\nthree\nhello there\n"
    assert "cannot access" in printed(native, tag, "ls /tree/file") or "No such" in printed(
        native, tag, "ls /tree/file"
    )
    assert printed(native, tag, "cat /tree/who") == "10001\n10001\n"
    assert printed(native, tag, "cat /tree/folder/link /tree/folder/inner") == (
        "new\none\ntwo\nthree\n"
    )
    with native.start(SessionSpec(tag)) as session:
        assert session.stat("/tree/folder/new").uid == 10001
        assert session.stat("/named").uid == 0
        # A folder that is made for what is copied is its owner's, those on the way are not.
        made = ("/made", "/made/within", "/made/within/new")
        assert [session.stat(path).uid for path in made] == [0, 10004, 10004]
    found = native.image(tag)
    assert found is not None
    assert found.environment == {"GREETING": "hello there", "PATH": "/bin"}
    assert found.labels["sandbox.test"] == "native"
    assert [each.id for each in native.images("sandbox.test=native")] == [found.id]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "RUN echo before; exit 3",
            "line 2, `echo before; exit 3`, ended with status 3\n    before",
        ),
        ("COPY absent /x", "the context has no absent"),
        ("COPY ../x /x", "the context has no ../x"),
        ("USER nobody-here", "the image knows no nobody-here"),
        ("FROM other", "one stage only"),
    ],
)
def test_what_fails_is_told_and_leaves_nothing(
    root_archive: Path, tmp_path: Path, context: Path, text: str, said: str
) -> None:
    engine = NativeEngine(tmp_path / "store")
    engine.import_image(root_archive, tag=TAG, labels={})
    (context / "Dockerfile").write_text(f"FROM {TAG}\n{text}\n")
    with pytest.raises(ImageError) as caught:
        engine.build(context, tag="x", labels={}, network="none", on_line=lambda _: None)
    assert said in caught.value.message
    assert [tag for each in engine.images("sandbox.managed") for tag in each.tags] == [TAG]
    assert len(list((tmp_path / "store" / "layers").iterdir())) == 1


def test_what_a_killed_build_left_goes_when_an_image_is_removed(
    root_archive: Path, tmp_path: Path
) -> None:
    engine = NativeEngine(tmp_path / "store")
    engine.import_image(root_archive, tag=TAG, labels={})
    (tmp_path / "store/layers/.half/upper").mkdir(parents=True)
    engine.remove_image("absent")
    assert [path.name[0] for path in (tmp_path / "store/layers").iterdir()] != ["."]
    assert engine.image(TAG) is not None
    engine.remove_image(TAG)
    assert list((tmp_path / "store/layers").iterdir()) == []


NAMES = ("sandbox-test-one:1", "sandbox-test-other:1")
"""Which no Docker engine has."""


def test_an_image_of_two_names_is_there_until_both_are_removed(
    root_archive: Path, tmp_path: Path
) -> None:
    engine = NativeEngine(tmp_path / "store")
    for tag in NAMES:
        engine.import_image(root_archive, tag=tag, labels={})
    engine.remove_image(NAMES[0])
    assert engine.image(NAMES[0]) is None
    kept = engine.image(NAMES[1])
    assert kept is not None
    assert kept.tags == NAMES[1:]
    engine.import_image(root_archive, tag=NAMES[0], labels={})
    engine.remove_image(kept.id)
    assert [engine.image(tag) for tag in NAMES] == [None, None]
    assert list((tmp_path / "store/layers").iterdir()) == []


def test_no_link_of_an_image_leads_a_copy_out_of_it(
    native: Engine, build: Build, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    link, copy = f"ln -s {outside} /way", "COPY one.txt /way/in/one.txt\n"
    tag = build(f"FROM {TAG}\nRUN mkdir -p {outside} && {link}\n{copy}")
    assert list(outside.iterdir()) == []
    assert printed(native, tag, f"cat {outside}/in/one.txt") == "one\n"
    with pytest.raises(ImageError, match=r"one\.txt cannot be laid"):
        build(f"FROM {TAG}\nRUN {link}\n{copy}")
    assert list(outside.iterdir()) == []


def test_a_step_without_a_network_has_none(native: Engine, build: Build) -> None:
    tag = build(f"FROM {TAG}\nRUN ls /sys/class/net > /tree/cards\n")
    assert printed(native, tag, "cat /tree/cards") == "lo\n"
    with pytest.raises(ImageError, match="no network of its own"):
        build(network="bridge")


@pytest.mark.slow
def test_what_is_saved_is_an_image_for_docker(
    native: Engine, docker: Engine, build: Build, tmp_path: Path
) -> None:
    """What one layer takes away stays away, and nothing of a container's way of life is in it."""
    tag = build()
    native.save(tag, tmp_path / "image.tar")
    with tarfile.open(tmp_path / "image.tar") as saved:
        content = saved.extractfile("manifest.json")
        assert content is not None
        (entry,) = json.load(content)
        member = saved.extractfile(entry["Layers"][-1])
        with tarfile.open(fileobj=member) as layer:
            names = layer.getnames()
    assert entry["RepoTags"] == [tag]
    assert "tree/.wh.file" in names
    assert not [name for name in names if AGENT_FILES.lstrip("/") in name]
    taken = docker.load(tmp_path / "image.tar", tag=tag)
    try:
        assert printed(docker, tag, "cat /tree/copied /named") == "one\ntwo\nthree\none\n"
        assert "No such" in printed(docker, tag, "ls /tree/file")
        native.remove_image(tag)
        assert native.load(tmp_path / "image.tar", tag=tag).id == taken.id
        assert printed(native, tag, "cat /tree/copied /named") == "one\ntwo\nthree\none\n"
        native.remove_image(tag)
        # The image that Docker has now is copied, whiteouts and all.
        assert printed(native, tag, "cat /tree/copied /named") == "one\ntwo\nthree\none\n"
        assert "No such" in printed(native, tag, "ls /tree/file")
    finally:
        docker.remove_image(tag)
    (tmp_path / "image.tar").write_bytes(b"no archive")
    with pytest.raises(ImageError):
        native.load(tmp_path / "image.tar", tag=tag)


ABANDON = """
import os, sys, threading
from pathlib import Path
from sandbox.container.engines.native.engine import NativeEngine
engine = NativeEngine(Path(sys.argv[1]))
def on_line(line):
    if line == "begun":
        os._exit(0)
engine.build(Path(sys.argv[2]), tag="x", labels={}, network="none", on_line=on_line)
"""


@pytest.fixture
def abandoned(root_archive: Path, tmp_path: Path, context: Path) -> tuple[NativeEngine, Path]:
    """An engine, and the folder of a layer that a killed harness was building."""
    engine = NativeEngine(tmp_path / "store")
    engine.import_image(root_archive, tag=TAG, labels={})
    (context / "Dockerfile").write_text(f"FROM {TAG}\nRUN echo begun; exec sleep 100000\n")
    command = [sys.executable, "-c", ABANDON, str(tmp_path / "store"), str(context)]
    subprocess.run(command, check=True, timeout=60)
    (partial,) = (tmp_path / "store/layers").glob(".*")
    return engine, partial


def test_what_a_killed_harness_was_building_ends_with_the_next_build(
    abandoned: tuple[NativeEngine, Path], context: Path
) -> None:
    engine, partial = abandoned
    name = crun.build_name(partial)
    assert crun.processes(name)  # whether crun has noted it yet or not
    (context / "Dockerfile").write_text(f"FROM {TAG}\nRUN true\n")
    engine.build(context, tag="y", labels={}, network="none", on_line=lambda _: None)
    assert not crun.processes(name)
    assert not partial.exists()


def test_what_crun_has_not_noted_yet_is_ended_all_the_same(
    abandoned: tuple[NativeEngine, Path],
) -> None:
    engine, partial = abandoned
    name = crun.build_name(partial)
    while crun.first_process(name) is None:
        time.sleep(0.01)
    (crun.state() / name / "status").unlink()
    with engine._store.locked():
        engine._store.sweep()
    end = time.monotonic() + 30
    while crun.processes(name) and time.monotonic() < end:
        time.sleep(0.01)
    assert not crun.processes(name)
    assert not partial.exists()


def test_what_is_just_begun_is_not_swept_away(tmp_path: Path) -> None:
    mine, others = ImageStore(tmp_path), ImageStore(tmp_path)
    done = threading.Event()

    def sweep() -> None:
        while not done.is_set():
            with others.locked():
                others.sweep()

    sweeper = threading.Thread(target=sweep)
    sweeper.start()
    try:
        for _ in range(100):
            with mine.partial() as folder:
                (folder / "file").touch()
    finally:
        done.set()
        sweeper.join()
    assert list((tmp_path / "layers").iterdir()) == []


@pytest.mark.slow
def test_layers_go_with_the_last_that_needs_them(native: Engine, build: Build) -> None:
    assert isinstance(native, NativeEngine)
    store = native._store
    before = {path.name for path in (store.folder / "layers").iterdir()}
    tag = build()
    image = store.find(tag)
    assert image is not None
    with native.start(SessionSpec(tag)) as session:
        native.remove_image(tag)
        assert store.find(tag) is None
        assert session.read("/named") == b"one\n"
        assert (store.folder / "layers" / image.layers[-1]).is_dir()
    assert before <= {path.name for path in (store.folder / "layers").iterdir()}


def test_an_image_that_nobody_has_is_not_there(native: Engine) -> None:
    assert native.image("sandbox/nothing:here") is None
    with pytest.raises(EngineError, match="no image sandbox/nothing"):
        native.start(SessionSpec("sandbox/nothing:here"))
    with pytest.raises(ImageError, match="asks no registry"):
        native.pull("sandbox/nothing:here")
    native.remove_image("sandbox/nothing:here")
