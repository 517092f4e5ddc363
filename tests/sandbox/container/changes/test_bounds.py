"""What is listed of a hostile file system, and what is only counted."""

import resource
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.container.changes.bounds import (
    DEPTH,
    FOLDERS,
    GENERATED,
    OTHERS,
    PATH_LIMIT,
    Bounds,
    outermost,
)
from sandbox.container.changes.collector import Collector
from sandbox.container.engines.base import Engine, Session, SessionSpec
from sandbox.model.change import ChangeSet, Owner
from sandbox.model.session import AGENT, Command
from sandbox.tasks.library import LoadedTask
from tests.sandbox.container.changes.test_collector import collectors


def bounds() -> Bounds:
    return Bounds(lambda folder: folder.startswith(b"/tmp"))


def test_each_kind_of_folder_has_entries_of_its_own() -> None:
    found = bounds()
    assert all(found.takes(b"/tmp/%d" % number) for number in range(GENERATED))
    assert not found.takes(b"/tmp/more")
    assert all(found.takes(b"/w/%d" % number) for number in range(OTHERS))
    assert not found.takes(b"/w/more")
    assert found.unlisted == {b"/tmp": 1, b"/w": 1}


def test_long_paths_use_the_bounds_up_too() -> None:
    found = bounds()
    folder = b"/w/" + b"x" * 7000
    taken = sum(found.takes(folder + b"/%d" % number) for number in range(5000))
    assert 1000 < taken < 1300
    assert found.unlisted == {folder: 5000 - taken}


def test_folders_that_are_named_are_bounded_themselves() -> None:
    found = bounds()
    for number in range(FOLDERS + 500):
        found.leave_out(b"/w/%d" % number, 2)
    assert len(found.unlisted) == FOLDERS + 1
    assert found.unlisted[b"/w"] == 1000


names = st.binary(min_size=1, max_size=300).map(lambda name: name.replace(b"/", b"x"))


@given(st.lists(names, max_size=300))
def test_the_outermost_folder_that_is_too_deep_is_named(parts: list[bytes]) -> None:
    folder = b"".join(b"/" + part for part in parts) or b"/"

    def enters(path: bytes) -> bool:
        return path.count(b"/") <= DEPTH and len(path) <= PATH_LIMIT

    on_the_way = [b"".join(b"/" + part for part in parts[:end]) for end in range(1, len(parts) + 1)]
    expected = next((path for path in on_the_way if not enters(path)), None)
    assert outermost(folder) == expected


@pytest.fixture
def session(engine: Engine, image: str) -> Iterator[Session]:
    with engine.start(SessionSpec(image)) as session:
        yield session


def changed(session: Session, task: LoadedTask, line: str) -> dict[str, ChangeSet]:
    """The change set after a shell line, by both ways."""
    ways = collectors(session, task)
    argv = ("/bin/bash", "-c", line)
    environment = {"PATH": "/usr/bin:/bin"}
    done = session.run(Command(argv, cwd=task.worktree, environment=environment, user=AGENT))
    assert done.exit_code == 0, done.stderr
    session.kill_all()

    def pristine() -> Session:
        raise AssertionError("no file of the image has changed")

    return {name: way.change_set(pristine) for name, way in ways.items()}


DEEP = """python3 -c '
import os
for number in range(5000):
    os.mkdir("%020d" % number)
    os.chdir("%020d" % number)
open("bottom", "w").close()'"""


@pytest.mark.slow
@pytest.mark.engine
def test_a_folder_of_five_thousand_levels_is_one_record(session: Session, task: LoadedTask) -> None:
    for found in changed(session, task, DEEP).values():
        (left,) = found.unlisted
        assert left.owner is Owner.COLLATERAL
        assert left.path.startswith(task.worktree)
        assert len(found.changes) < 300


@pytest.mark.slow
@pytest.mark.sampled(every=2)
@pytest.mark.engine
@pytest.mark.parametrize(
    ("where", "owner", "most"),
    [("/tmp", Owner.GENERATED, GENERATED), (".", Owner.COLLATERAL, OTHERS)],
)
def test_what_is_too_much_is_counted(
    session: Session, task: LoadedTask, where: str, owner: Owner, most: int
) -> None:
    top = f"mkdir -p {where}/m/n; cd {where}/m"
    for name, found in changed(
        session, task, f"{top}; seq 25000 | xargs touch; cd n; seq 200 | xargs mkdir"
    ).items():
        left = [each for each in found.unlisted if each.path.endswith(("/m", "/m/n"))]
        assert {each.owner for each in left} == {owner}, name
        listed = sum("/m/" in f"{each.path}/" for each in found.changes)
        assert listed + sum(each.entries for each in left) == 25_202, name
        assert most - 50 <= listed <= most


@pytest.mark.engine
def test_what_nobody_changed_is_not_counted(session: Session, task: LoadedTask) -> None:
    for found in changed(session, task, "echo x > new.txt").values():
        assert not found.unlisted
        assert f"{task.worktree}/new.txt" in {each.path for each in found.changes}


@pytest.mark.thorough
@pytest.mark.engine
def test_a_million_entries_cost_the_harness_little_memory(
    session: Session, task: LoadedTask
) -> None:
    """Whole folders of them: 100,000 here, so that the test is quick; memory does not grow."""
    line = "cd /tmp; for i in $(seq 10); do mkdir $i; (cd $i; seq 10000 | xargs touch); done"
    collector = Collector(session, task.task.scope, task.worktree)
    environment = {"PATH": "/bin:/usr/bin"}
    session.run(Command(("/bin/bash", "-c", line), environment=environment, user=AGENT))
    session.kill_all()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = collector.change_set(lambda: session)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert sum(each.entries for each in found.unlisted) >= 100_000 - GENERATED
    assert grown < 50 << 10  # KiB
