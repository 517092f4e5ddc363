"""Measured runs as a table of columns (Parquet): a row for each run. Needs `sandbox[parquet]`."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sandbox.grading.metrics.run_metrics import NAMES
from sandbox.grading.reports import SIZES
from sandbox.model.report import RunMetrics
from sandbox.model.run import RunRecord

TEXTS = (
    "run",
    "experiment",
    "task",
    "task_digest",
    "family",
    "facet",
    "agent",
    "label",
    "version",
    "model",
    "mode",
    "verdict",
    "how",
    "cause",
    "coverage",
    "started",
    "ended",
)


def write(runs: Sequence[tuple[RunRecord, RunMetrics]], path: Path) -> None:
    """Write one row a run.

    Texts and sizes as `sandbox report --json` has them, null where nothing is known; `passed`,
    `graded` and `crashed`; the tags as a map; of each rate its numerator and its denominator, for
    rates over many runs are sums of these.
    """
    fields = [
        *(pa.field(name, pa.string()) for name in TEXTS),
        *(pa.field(name, pa.bool_()) for name in ("passed", "graded", "crashed")),
        pa.field("tags", pa.map_(pa.string(), pa.string())),
        *(pa.field(name, pa.float64()) for name in SIZES),
        *(
            pa.field(f"{name}.{part}", pa.float64())
            for name in NAMES
            for part in ("numerator", "denominator")
        ),
    ]
    rows = [_row(record, run) for record, run in runs]
    pq.write_table(pa.Table.from_pylist(rows, schema=pa.schema(fields)), path)


def _row(record: RunRecord, run: RunMetrics) -> dict[str, object]:
    row: dict[str, object] = {
        **{name: getattr(run, name) for name in TEXTS if hasattr(run, name)},
        "experiment": record.experiment,
        "model": record.actor.model,
        "started": record.started,
        "ended": record.ended,
        "passed": run.passed,
        "graded": run.graded,
        "crashed": run.crashed,
        "tags": list(run.tags.items()),
    }
    row.update({name: run.sizes.get(name) for name in SIZES})
    for name, ratio in run.rates.items():
        row[f"{name}.numerator"] = float(ratio.numerator)
        row[f"{name}.denominator"] = float(ratio.denominator)
    return row
