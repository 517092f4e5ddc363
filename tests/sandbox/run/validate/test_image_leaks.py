"""Whether an author learns that an image of theirs gives something away."""

import dataclasses
import shutil
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine
from sandbox.model import places
from sandbox.run.validate import image_leaks
from sandbox.tasks import library
from sandbox.tasks.images import Images
from sandbox.tasks.images.image_secrets import secrets
from sandbox.tasks.sources import Sources

TAG = "sandbox/test-image-leaks:1"


@pytest.mark.engine
@pytest.mark.thorough
def test_a_hidden_test_in_the_image_is_told(engine: Engine, tmp_path: Path) -> None:
    loaded = library.load("minimist/nothing-to-ask")
    image = Images(engine, places.cache()).ensure(loaded, print)
    assert image_leaks.row(loaded, image, engine).status == "ok"
    assert loaded.task.tests.hidden is not None
    hidden = next(path for path in library.files_below(loaded.folder / loaded.task.tests.hidden))
    shutil.copy(hidden, tmp_path / "note.js")
    (tmp_path / "Dockerfile").write_text(f"FROM {image.tag}\nCOPY note.js /home/agent/\n")
    engine.build(tmp_path, tag=TAG, labels={}, network="none", on_line=print)
    try:
        row = image_leaks.row(loaded, dataclasses.replace(image, tag=TAG), engine)
    finally:
        engine.remove_image(TAG)
    assert row.status == "bad"
    assert any(note.endswith(f"/home/agent/note.js is {hidden.name}") for note in row.notes)
    assert len(row.notes) <= image_leaks.MOST + 1


def test_a_line_that_stands_elsewhere_too_gives_nothing_away() -> None:
    found = secrets(library.load("qs/guard-once"), Sources(places.cache()), print)
    assert b"if (!options.allowPrototypes) {" not in found.lines
    assert found.lines


@pytest.mark.thorough
def test_what_the_users_own_work_shows_is_no_secret() -> None:
    """Where an earlier session has mended one of two defects, that file is as upstream's."""
    found = secrets(library.load("django/negative-durations"), Sources(places.cache()), print)
    assert not [text for text in found.files.values() if text.startswith("django/utils/duration")]
    assert [text for text in found.files.values() if text.startswith("django/utils/dateparse")]


@pytest.mark.thorough
@pytest.mark.engine
@pytest.mark.parametrize("name", library.names())
def test_no_image_gives_its_task_away(engine: Engine, name: str) -> None:
    loaded = library.load(name)
    row = image_leaks.row(loaded, Images(engine, places.cache()).ensure(loaded, print), engine)
    assert (row.status, row.notes) == ("ok", ())
