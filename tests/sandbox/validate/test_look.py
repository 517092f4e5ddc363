"""What a fresh session shows: its state's digest, and what is not as it has to be."""

import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.engines.base import Engine, Session, SessionSpec
from sandbox.engines.fake import FakeEngine
from sandbox.model.session import ROOT
from sandbox.validate.facts import Stated
from sandbox.validate.look import Look, facts_row, reset_row
from sandbox.validate.state import state_digest
from tests.sandbox.worlds import task


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    archive = tmp_path / "root.tar"
    with tarfile.open(archive, "w") as tar:
        for name in ("home", "home/agent", "proc"):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o777
            tar.addfile(entry)
        tar.addfile(tarfile.TarInfo("home/agent/a"))
    engine = FakeEngine({})
    engine.import_image(archive, tag="t", labels={})
    return engine


def digest(engine: Engine, change: Callable[[Session], None] = lambda _: None) -> str:
    with engine.start(SessionSpec("t")) as session:
        change(session)
        return state_digest(session)


def test_fresh_sessions_have_one_state(engine: Engine) -> None:
    assert digest(engine) == digest(engine)


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
