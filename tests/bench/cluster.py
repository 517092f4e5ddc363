"""What an experiment's own process takes for a run on a cluster: few and many that are queued."""

import tempfile
import time
from pathlib import Path

from sandbox.model.store import Store
from sandbox.run.cluster.cell import Cell, Delivery
from sandbox.run.experiment import opened
from tests.bench.clock import Measure
from tests.sandbox.run.cluster.nodes import Runs, Simulated, spread
from tests.sandbox.run.test_experiment import plan

FEW, MANY = 100, 10_000


def spent(cells: int) -> float:
    """Milliseconds for each of so many cells, on nodes that are simulated and not counted."""
    with tempfile.TemporaryDirectory() as folder:
        store, runs = Store(Path(folder) / "runs"), Runs(Path(folder) / "node")
        experiment = opened(store, plan(cells), "x")
        by_nodes = 0.0

        def do(cell: Cell, _: bytes | None) -> Delivery:
            nonlocal by_nodes
            begun = time.perf_counter()
            done = runs.of(cell)
            by_nodes += time.perf_counter() - begun
            return done

        begun = time.perf_counter()
        for result in spread(Simulated(do), experiment, store).results(experiment.taken()):
            experiment.over(result)
        return (time.perf_counter() - begun - by_nodes) / cells * 1000


def measure() -> list[Measure]:
    spent(FEW)
    few = sorted(spent(FEW) for _ in range(5))[2]
    name = f"one of {MANY:,} runs on a cluster, nodes left out"
    return [(name, f"one of {FEW}", spent(MANY), few, 1.2, False)]
