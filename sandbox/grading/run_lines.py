"""A run in a line: what its record and its measure say."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from sandbox.grading.measured import measured
from sandbox.model.errors import StoreError
from sandbox.model.report import RunMetrics
from sandbox.model.run import RunRecord
from sandbox.model.run_folder import RunFolder


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run."""

    record: RunRecord
    measured: RunMetrics
    sizes: dict[str, float]
    """Turns, seconds and, where the agent tells them, tokens and cost."""


def run_lines(folders: Iterable[RunFolder]) -> list[RunLine]:
    """Read runs of one store; one that is damaged is `invalid`, one without a record left out."""
    found: list[tuple[RunFolder, RunRecord]] = []
    for folder in folders:
        with suppress(StoreError):
            found.append((folder, folder.record()))
    runs = measured(folder for folder, _ in found)
    return [
        RunLine(record.model_copy(update={"verdict": run.verdict}), run, _sizes(record))
        for (_, record), run in zip(found, runs, strict=True)
    ]


def _sizes(record: RunRecord) -> dict[str, float]:
    end = record.end
    if end is None:
        return {}
    found = {"turns": float(end.turns), "seconds": end.seconds}
    if end.usage is not None:
        found["tokens"] = float(end.usage.input_tokens + end.usage.output_tokens)
        if end.usage.cost is not None:
            found["cost"] = end.usage.cost
    return found
