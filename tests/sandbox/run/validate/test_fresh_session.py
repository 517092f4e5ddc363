"""What a fresh session shows: its state's digest, and what is not as it has to be."""

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine, Session, SessionSpec
from sandbox.container.engines.fake import FakeEngine
from sandbox.model.session import ROOT
from sandbox.run.validate.facts import Stated
from sandbox.run.validate.fresh_session import Look, facts_row, reset_row
from sandbox.run.validate.state import state_digest
from tests.sandbox.worlds import task


def image(folder: Path, content: bytes = b"1", modified: int = 0) -> Engine:
    archive = folder / "root.tar"
    with tarfile.open(archive, "w") as tar:
        for name in ("home", "home/agent", "proc"):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o777
            tar.addfile(entry)
        file = tarfile.TarInfo("home/agent/a")
        file.size, file.mtime = len(content), modified
        tar.addfile(file, io.BytesIO(content))
    engine = FakeEngine({})
    engine.import_image(archive, tag="t", labels={})
    return engine


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return image(tmp_path)


def digest(engine: Engine, change: Callable[[Session], None] = lambda _: None) -> str:
    with engine.start(SessionSpec("t")) as session:
        change(session)
        return state_digest(session)


def test_fresh_sessions_have_one_state(engine: Engine) -> None:
    assert digest(engine) == digest(engine)


def test_content_and_time_of_a_file_are_part_of_it(tmp_path: Path) -> None:
    states = {
        digest(image(tmp_path)),
        digest(image(tmp_path, content=b"2")),
        digest(image(tmp_path, modified=1)),
    }
    assert len(states) == 3


@pytest.mark.parametrize(
    "change",
    [
        lambda session: session.write("/home/agent/b", b""),
        lambda session: session.write("/home/agent/a", b"x", user=ROOT),
        lambda session: session.remove("/home/agent/a"),
    ],
    ids=["added", "changed", "removed"],
)
def test_any_change_is_another_state(engine: Engine, change: Callable[[Session], None]) -> None:
    assert digest(engine, change) != digest(engine)


def test_what_is_the_kernels_is_no_part_of_it(engine: Engine) -> None:
    assert digest(engine, lambda session: session.write("/proc/x", b"")) == digest(engine)


def look(state: str, *problems: str) -> Look:
    return Look(state, (Stated(fact="must a", places=("prompt",), problems=problems),))


def test_a_state_that_differs_does_not_hold() -> None:
    assert reset_row(task(), look("a"), look("a")).holds
    bad = reset_row(task(), look("a"), look("b"))
    assert (bad.holds, bad.notes) == (False, ("it was a and is b",))


def test_a_fact_that_is_not_stated_does_not_hold() -> None:
    assert facts_row(task(), look("a")).holds
    assert facts_row(task(), look("a", "is not said")).notes == ("must a: is not said",)
