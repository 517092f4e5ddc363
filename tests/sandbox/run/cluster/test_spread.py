"""Cells on a cluster that loses nodes: each run arrives once, and whole, or not at all."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.model.job import JobResult
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from sandbox.run.cluster.arrival import ARRIVING
from sandbox.run.cluster.cell import Cell, Delivery, digest_of
from sandbox.run.cluster.cluster import ClusterError, NodeLostError
from sandbox.run.experiment import Experiment, opened
from tests.sandbox.run.cluster.nodes import Runs, Simulated, spread
from tests.sandbox.run.test_experiment import plan


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "runs")


def done(
    cluster: Simulated, experiment: Experiment, store: Store, most: int | None = None
) -> list[JobResult]:
    """One round; a test may take only the first results, as Ctrl-C does."""
    found = []
    works = spread(cluster, experiment, store).results(experiment.taken())
    for result in works:
        experiment.over(result)
        found.append(result)
        if len(found) == most:
            break
    works.close()
    return found


MISHAPS = st.lists(st.sampled_from(["well", "lost", "error", "lacks", "altered"]), max_size=30)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MISHAPS, st.integers(1, 12), st.lists(st.integers(1, 5), max_size=4))
def test_whatever_nodes_do_each_cell_is_over_once(
    tmp_path_factory: pytest.TempPathFactory, mishaps: list[str], cells: int, breaks: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("spread")
    store, runs = Store(folder / "runs"), Runs(folder / "node")
    left = iter(mishaps)

    def do(cell: Cell, image: bytes | None) -> Delivery:
        how = next(left, "well")
        if how == "lost":
            raise NodeLostError("It is gone.")
        if how == "lacks" and image is None:
            return Delivery(node="n", lacks_image=True)
        whole = runs.of(cell, Verdict.ERROR if how == "error" else Verdict.FAILED)
        if how == "altered":
            return whole.model_copy(update={"files": {**whole.files, "log/a": b"\1"}})
        return whole

    experiment = opened(store, plan(cells), "x")
    for most in [*breaks, *[None] * (len(mishaps) + 1)]:
        experiment = Experiment(experiment.path, store)  # as after the end of its process
        cluster = Simulated(do)
        done(cluster, experiment, store, most)
        experiment.let_go()
        assert cluster.most <= 6
        assert len(cluster.kept) <= 1
    over = experiment.done()
    assert Counter(result.job.trial for result in over) == Counter(range(1, cells + 1))
    for result in over:
        assert result.run is not None
        assert (store.folder(result.run).path / "log/a").read_bytes() == b"\0"
    judged = [each for each in store.folders() if each.record().verdict is not Verdict.ERROR]
    assert len(judged) == cells, "a run that nobody counts is a cell that was done twice"
    assert not (experiment.path / ARRIVING).exists()


def altered(delivery: Delivery, **files: bytes) -> Delivery:
    changed = {name.replace("__", "/"): content for name, content in files.items()}
    return delivery.model_copy(update={"files": changed, "digest": digest_of(changed)})


def told(delivery: Delivery, **changes: object) -> Delivery:
    assert delivery.result is not None
    result = delivery.result.model_copy(update=changes)
    return delivery.model_copy(update={"result": result})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda whole: whole.model_copy(update={"digest": "0"}), "not those that were sent"),
        (lambda whole: altered(whole, **{"../../x": b""}), "do not lie"),
        (lambda whole: altered(whole, **{"/tmp/x": b""}), "do not lie"),
        (lambda whole: altered(whole, **{"run.json": b"{}"}), "run.json"),
        (lambda whole: told(whole, run="checks"), "of no run"),
        (lambda whole: told(whole, run="0badcafe-a-b"), "another task or mode"),
        (lambda whole: told(whole, verdict=Verdict.PASSED), "another end"),
    ],
)
def test_what_is_not_as_it_was_sent_is_an_error_and_leaves_nothing(
    store: Store, tmp_path: Path, change: Callable[[Delivery], Delivery], why: str
) -> None:
    runs, experiment = Runs(tmp_path / "node"), opened(store, plan(1), "x")
    cluster = Simulated(lambda cell, _: change(runs.of(cell)))
    (result,) = done(cluster, experiment, store)
    assert (result.verdict, result.run) == (Verdict.ERROR, None)
    assert why in result.problem
    assert list(store.folders()) == []
    assert {each.name for each in experiment.path.iterdir()} == {"plan.json", "claims"}
    assert experiment.left()


def test_who_is_killed_before_a_run_has_its_name_does_it_again_and_not_twice(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, experiment = Runs(tmp_path / "node"), opened(store, plan(1), "x")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", killed)
        with pytest.raises(KeyboardInterrupt):
            done(Simulated(lambda cell, _: runs.of(cell)), experiment, store)
    experiment.let_go()
    again = Experiment(experiment.path, store)
    done(Simulated(lambda cell, _: runs.of(cell)), again, store)
    assert [result.run for result in again.done()] == ["00000002-a-b"]


def test_an_interrupt_is_sent_on_and_what_was_under_way_is_left(
    store: Store, tmp_path: Path
) -> None:
    runs, experiment = Runs(tmp_path / "node"), opened(store, plan(9), "x")
    cluster = Simulated(lambda cell, _: runs.of(cell))
    works = spread(cluster, experiment, store)
    results = works.results(experiment.taken())
    experiment.over(next(results))
    with pytest.raises(KeyboardInterrupt):
        results.throw(KeyboardInterrupt())
    assert len(cluster.cancelled) == 5
    stopped = works.remaining()
    assert {(result.interrupted, result.verdict) for result in stopped} == {(True, None)}
    for result in stopped:
        experiment.over(result)
    assert len(experiment.left()) == 8
    assert experiment.elsewhere() == 0, "nothing is claimed any more"


def test_a_cluster_that_goes_away_keeps_what_has_come(store: Store, tmp_path: Path) -> None:
    runs, experiment = Runs(tmp_path / "node"), opened(store, plan(5), "x")

    class Gone(Simulated):
        def over(self, works: object, seconds: float) -> list[object]:
            del works, seconds
            if list(store.folders()):
                raise ClusterError("The cluster went away.")
            return [next(iter(self._begun))]

    with pytest.raises(ClusterError):
        done(Gone(lambda cell, _: runs.of(cell)), experiment, store)
    experiment.let_go()
    assert len(Experiment(experiment.path, store).left()) == 4
