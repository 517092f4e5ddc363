"""Runs that version 0.1 stored can still be read, counted and graded; no engine is needed."""

import base64
import json
import shutil
from pathlib import Path

import pytest

from tests.end_to_end.commands import NO_ENGINE, sandbox

STORED = Path(__file__).with_name("runs-of-0.1")
(RUN,) = (path.parent.name for path in STORED.glob("*/run.json"))
CANDIDATE = "candidate.tar.zst"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A store with the run, whose one file that is not text is kept as text."""
    runs = tmp_path / "runs"
    shutil.copytree(STORED, runs)
    packed = runs / RUN / f"{CANDIDATE}.base64"
    (runs / RUN / CANDIDATE).write_bytes(base64.b64decode(packed.read_bytes()))
    packed.unlink()
    return runs


@pytest.mark.parametrize(
    ("arguments", "shows"),
    [
        (("show", "last"), "verdict: passed"),
        (("show", RUN[:8], "--json"), '"verdict": "passed"'),
        (("trace", "last"), "hash chain whole"),
        (("diff", "last"), "src/humanize/filesize.py"),
        (("diff", "last", "--patch"), "+++ /home/agent/humanize/src/humanize/filesize.py"),
        (("report",), "oracle"),
    ],
)
def test_a_verb_reads_a_run_of_the_old_version(
    runs: Path, arguments: tuple[str, ...], shows: str
) -> None:
    ended = sandbox(*arguments, "--runs", runs, DOCKER_HOST=NO_ENGINE)
    assert ended.code == 0, ended.err
    assert shows in ended.out


def test_a_run_of_the_old_version_is_graded_again_or_left_with_a_sentence(runs: Path) -> None:
    ended = sandbox("grade", RUN, "--json", "--runs", runs, DOCKER_HOST=NO_ENGINE)
    if ended.code == 0:
        assert json.loads(ended.out)["verdict"] == "passed"
    else:
        assert ended.code == 2
        assert "has changed since" in ended.err
        assert "its verdict is left as it is" in ended.err
