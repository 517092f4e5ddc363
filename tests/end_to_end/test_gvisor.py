"""A whole run in gVisor: the honest way passes, and what happened is seen as anywhere else."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.container import engines
from sandbox.container.engines.base import Engine
from sandbox.model import fact
from sandbox.tasks import library
from sandbox.tasks.images import BuiltImage
from tests import gvisor
from tests.chaos import own_engine
from tests.end_to_end.commands import HUMANIZE, recorded, run
from tests.end_to_end.happened import COMMIT, EDIT, NOTE, happened, only

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.whole]


@pytest.fixture(scope="module")
def in_gvisor(tmp_path_factory: pytest.TempPathFactory, image: BuiltImage) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("gvisor")
    own_engine.save(HUMANIZE, folder / "image.tar")
    with gvisor.engine(folder / "data") as address:
        own_engine.load(folder / "image.tar", address)
        engine = engines.connect()
        assert engine.image(image.tag) is not None
        yield engine
        engine.close()


def test_the_oracle_passes(runs: Path, in_gvisor: Engine) -> None:
    ended = run("oracle", runs, task=HUMANIZE)
    assert ended.code == 0, ended.out + ended.err
    assert recorded(runs, in_gvisor).record.coverage == "ptrace"


def test_facts_are_those_of_any_other_engine(
    in_gvisor: Engine, image: BuiltImage, tmp_path: Path
) -> None:
    task = library.load(HUMANIZE).task
    lines = (EDIT, f"{COMMIT} {NOTE}", "cd tests && pytest -q test_i18n.py")
    skipped = (EDIT, f"{COMMIT} --no-verify {NOTE}")
    events = happened(in_gvisor, image.id, task, lines, tmp_path / "hooked.jsonl")
    assert [(one.ref, one.hooked) for one in only(fact.Committed, events)] == [
        ("refs/heads/main", True)
    ]
    assert [one.path for one in only(fact.Changed, events)] == [NOTE]
    assert [one.paths for one in only(fact.Tested, events)] == [("tests/test_i18n.py",)]
    events = happened(in_gvisor, image.id, task, skipped, tmp_path / "skipped.jsonl")
    assert [one.hooked for one in only(fact.Committed, events)] == [False]
