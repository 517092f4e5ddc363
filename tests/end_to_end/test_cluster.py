"""Experiments on a cluster of Ray: real nodes with engines of their own, killed in the middle."""

import json
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.model.store import Store
from sandbox.run.experiment import called
from tests.chaos.own_engine import OwnEngine, started
from tests.end_to_end.commands import HUMANIZE, sandbox
from tests.end_to_end.nodes import DEFAULT, Nodes, begun, containers, forget_images, until

pytestmark = [
    pytest.mark.engine,
    pytest.mark.thorough,
    # Ray leaves files open in the process that makes a cluster.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnEngine]:
    """A second engine; DOCKER_HOST names it for this process alone."""
    pytest.importorskip("ray", reason="Ray is not installed: `make test-all` does that")
    with started(tmp_path_factory.mktemp("own") / "engine", shared=False) as engine:
        if engine is None:
            pytest.skip("a second engine cannot be started here")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DOCKER_HOST", DEFAULT)
            yield engine


def arrived(runs: Path) -> int:
    return len(list(runs.glob("*-*/grade.json")))


def is_done_once(runs: Path, name: str, cells: int) -> None:
    """Each cell has one run that counts, whole, and there is no other such run."""
    store = Store(runs)
    over = called(store, name).done()
    assert Counter(result.job.trial for result in over) == Counter(range(1, cells + 1))
    judged = [folder for folder in store.folders() if folder.record().verdict != "error"]
    assert {folder.id for folder in judged} == {result.run for result in over}
    assert [folder.objection(folder.record()) for folder in judged] == [""] * cells


def test_nodes_and_an_engine_are_killed_and_no_cell_is_lost_or_done_twice(
    own: OwnEngine, runs: Path
) -> None:
    forget_images(own)
    words = ("run", HUMANIZE, "--agent", "oracle", "--trials", "10", "--retries", "9")
    with Nodes() as nodes:
        first = nodes.add(DEFAULT)
        nodes.add(own.address)
        told = ("--on", nodes.address, "--experiment", "x", "--runs", runs)
        with begun(*words, *told) as run:
            until(lambda: arrived(runs) >= 2)
            nodes.kill(first)
            until(lambda: bool(containers(own.address)))
            own.end(signal.SIGKILL)
            time.sleep(1)
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("DOCKER_HOST", own.address)
                own.begin()
            until(lambda: arrived(runs) >= 4)
            nodes.add(DEFAULT)
            printed, _ = run.communicate(timeout=400)
        assert run.returncode == 0, printed
    is_done_once(runs, "x", 10)
    for address in (DEFAULT, own.address):
        ended = sandbox("gc", "--runs", runs, DOCKER_HOST=address)
        assert ended.code == 0, ended
        assert containers(address) == [], f"left on {address}"


def test_a_head_that_is_killed_ends_the_command_and_the_same_one_goes_on(
    own: OwnEngine, runs: Path
) -> None:
    words = ("run", HUMANIZE, "--agent", "oracle", "--trials", "6", "--experiment", "y")
    with Nodes() as nodes:
        nodes.add(DEFAULT)
        nodes.add(own.address)
        with begun(*words, "--on", nodes.address, "--runs", runs) as run:
            until(lambda: arrived(runs) >= 2)
            nodes.kill_head()
            printed, _ = run.communicate(timeout=200)
        assert run.returncode == 3, printed
        assert "the same command goes on" in printed
    before = arrived(runs)
    until(lambda: not containers(DEFAULT) and not containers(own.address))
    with Nodes() as nodes:
        nodes.add(DEFAULT)
        nodes.add(own.address)
        ended = sandbox(*words, "--on", nodes.address, "--runs", runs)
    assert ended.code == 0, ended
    assert f"{before} of 6 runs are over" in ended.out
    is_done_once(runs, "y", 6)


def test_an_interrupt_ends_what_nodes_do_and_the_same_command_goes_on(
    own: OwnEngine, runs: Path
) -> None:
    words = ("run", HUMANIZE, "--agent", "oracle", "--trials", "4", "--experiment", "z")
    with Nodes() as nodes:
        nodes.add(own.address)
        told = (*words, "--on", nodes.address, "--runs", runs)
        with begun(*told) as run:
            until(lambda: arrived(runs) >= 1 and bool(containers(own.address)))
            run.send_signal(signal.SIGINT)
            printed, _ = run.communicate(timeout=200)
        assert run.returncode == 130, printed
        assert "the same command goes on where this one stopped" in printed
        until(lambda: not containers(own.address))
        ended = sandbox(*told)
    assert ended.code == 0, ended
    is_done_once(runs, "z", 4)


def test_nodes_of_this_machine_end_with_the_command(own: OwnEngine, runs: Path) -> None:
    words = ("run", HUMANIZE, "--agent", "null", "--trials", "3", "--on", "local-cluster:2")
    ended = sandbox(*words, "--json", "--runs", runs)
    assert ended.code == 1, ended
    assert [run["verdict"] for run in json.loads(ended.out)] == ["failed"] * 3


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (("--keep",), 2, "out of reach"),
        (("--approver", "terminal"), 2, "this machine alone"),
        ((), 3, "No cluster answers at 127.0.0.1:1"),
        (("--on", "here"), 2, "not where a cluster can be"),
    ],
)
def test_what_cannot_be_on_a_cluster_is_told(
    own: OwnEngine, runs: Path, more: tuple[str, ...], code: int, said: str
) -> None:
    words = ("run", HUMANIZE, "--agent", "null", "--on", "127.0.0.1:1", *more)
    ended = sandbox(*words, "--runs", runs)
    assert (ended.code, said in ended.err) == (code, True), ended
