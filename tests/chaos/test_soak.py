"""Three hundred trials with a fault at every fiftieth; `make soak` does ten thousand."""

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine
from sandbox.model.experiment import Line
from sandbox.model.store import Store
from sandbox.model.verdict import Verdict
from tests.chaos.soak import NAME, Soak, Use, problems
from tests.sandbox.model.test_store import record


@pytest.mark.engine
@pytest.mark.slow
def test_faults_lose_double_and_leave_nothing() -> None:
    # By its own command: docker's client leaves each socket that could not reach the engine to
    # Python's collector, which warns of it here.
    ended = subprocess.run(
        (sys.executable, "-m", "tests.chaos.soak", "--trials", "300", "--every", "50"),
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "nothing lost, doubled or left" in ended.stdout


def journal(place: Path, *lines: Line) -> Soak:
    soak = Soak(place, len(lines), 50, 4)
    folder = soak.command.runs / "experiments" / NAME
    folder.mkdir(parents=True)
    (place / "said").touch()
    cut_short = '{"cell": 1, "ru'
    (folder / "journal.jsonl").write_text(
        "".join(f"{line.model_dump_json()}\n" for line in lines) + cut_short
    )
    return soak


@pytest.mark.engine
def test_what_is_lost_doubled_or_wrong_is_told(tmp_path: Path, engine: Engine) -> None:
    soak = journal(
        tmp_path,
        Line(cell=0, run="a", verdict=Verdict.FAILED),
        Line(cell=1, run="b", verdict=Verdict.ERROR),
        Line(cell=1, run="c", verdict=Verdict.FAILED),
        Line(cell=1, run="d", verdict=Verdict.FAILED),
        Line(cell=2, run="e", verdict=Verdict.PASSED),
    )
    (tmp_path / "tmp" / "left").touch()
    (tmp_path / "said").write_text("Traceback (most recent call last)")
    assert soak.over() == 4
    assert [each for each in problems(soak, engine, set()) if "gc" not in each] == [
        "2 trials are lost: [3, 4]",
        "1 trials are doubled: [1]",
        "1 verdicts are wrong: ['e']",
        "1 temporary files are left: ['left']",
        "a traceback was shown",
    ]


def test_an_end_that_a_kill_has_kept_from_the_journal_counts(tmp_path: Path) -> None:
    soak = journal(tmp_path, Line(cell=0, run="a"), Line(cell=1, run="b"), Line(cell=2, run="c"))
    for run, verdict in (("a", Verdict.FAILED), ("b", None)):
        folder = Store(soak.command.runs).folder(run)
        folder.path.mkdir()
        folder.save_record(record(run).model_copy(update={"verdict": verdict}))
    assert soak.over() == 1


@pytest.mark.parametrize(
    ("bytes_each", "files_each", "said"),
    [
        (0, 0, []),
        (1 << 20, 0, ["memory grew from 100 to 184 MiB"]),
        (0, 1, ["descriptors grew from 49 to 133"]),
    ],
)
def test_what_grows_with_the_trials_is_told(
    bytes_each: int, files_each: int, said: list[str]
) -> None:
    use = Use(begun_at=100)
    for trial in range(140):
        grown = max(trial - 40, 0)
        use.samples.append((100 + trial, (100 << 20) + grown * bytes_each, 49 + grown * files_each))
    assert list(use.grown()) == said
    assert list(Use(100, use.samples[:30]).grown()) == []
