"""Whole runs: the oracle passes, every other way fails for its own reason, grades come again."""

import json
import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from sandbox.container.engines.base import Engine
from sandbox.model.grade import RunGrade
from sandbox.model.run_folder import RunFolder
from sandbox.model.verdict import Verdict
from tests.end_to_end import commands
from tests.end_to_end.commands import HUMANIZE, NO_ENGINE, Ended, Recorded, recorded, sandbox

run = partial(commands.run, task=HUMANIZE)
pytestmark = [pytest.mark.engine, pytest.mark.whole]

WRONG = Path(__file__).parent.parent / "task_repos" / "humanize" / "file-sizes"
AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Oracle:
    runs: Path
    ended: Ended
    stored: Recorded


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory, engine: Engine) -> Oracle:
    runs = tmp_path_factory.mktemp("oracle")
    ended = run("oracle", runs, "--json")
    return Oracle(runs, ended, recorded(runs, engine))


@pytest.fixture
def altered(oracle: Oracle, tmp_path: Path) -> Recorded:
    """A copy of the oracle's run, to be altered."""
    shutil.copytree(oracle.runs, tmp_path / "runs")
    return Recorded(RunFolder(tmp_path / "runs" / oracle.stored.folder.id))


@pytest.mark.slow
def test_the_oracle_passes(oracle: Oracle) -> None:
    assert oracle.ended.code == 0
    grade = RunGrade.model_validate_json(oracle.ended.out)
    assert grade == oracle.stored.grade
    assert grade.verdict is Verdict.PASSED
    assert {part.verdict for part in grade.grades} == {Verdict.PASSED}
    assert oracle.stored.ended.reason == "final_answer"
    assert len(oracle.ended.err.splitlines()) == oracle.stored.ended.turns


def test_a_run_folder_is_complete(oracle: Oracle) -> None:
    assert {path.name for path in oracle.stored.folder.path.iterdir()} == {
        "run.json",
        "trace.jsonl",
        "changes.json",
        "changes.patch",
        "candidate.tar.zst",
        "tests.json",
        "grade.json",
    }
    record = oracle.stored.record
    assert (record.task, record.agent, record.verdict) == (HUMANIZE, "oracle", "passed")
    assert record.problem == ""
    assert record.container is None


def test_the_agent_that_does_nothing_fails(runs: Path, engine: Engine) -> None:
    assert run("null", runs).code == 1
    stored = recorded(runs, engine)
    assert stored.ended.reason == "agent_exited"
    grades = {part.grader: part.verdict for part in stored.grade.grades}
    assert grades["integrity"] == "passed"
    assert grades["tests"] == grades["final"] == "failed"


# Again, from what is stored


def test_a_run_is_graded_again_without_an_engine(oracle: Oracle) -> None:
    before = oracle.stored.folder.grade.read_bytes()
    oracle.stored.folder.grade.unlink()
    again = sandbox("grade", "last", "--runs", oracle.runs, DOCKER_HOST=NO_ENGINE)
    assert (again.code, again.err) == (0, "")
    first, second, *_ = again.out.splitlines()
    assert first.startswith("ended: answered after ")
    assert second == "verdict: passed"
    assert oracle.stored.folder.grade.read_bytes() == before


def test_each_line_of_a_trace_is_as_its_schema_says(oracle: Oracle) -> None:
    schema = Draft202012Validator(json.loads(sandbox("schema", "trace").out))
    lines = oracle.stored.folder.trace.read_text().splitlines()
    assert len(lines) > 20
    for line in lines:
        schema.validate(json.loads(line))


def test_an_altered_trace_is_invalid(altered: Recorded) -> None:
    text = altered.folder.trace.read_text()
    assert '"failed":51' in text
    altered.folder.trace.write_text(text.replace('"failed":51', '"failed":50', 1))
    again = sandbox("grade", "last", "--runs", altered.folder.path.parent)
    assert again.code == 4
    assert "was altered" in again.out
    shown = sandbox("trace", "last", "--runs", altered.folder.path.parent)
    assert shown.code == 4
    assert "was altered" in shown.err


def test_a_trace_that_was_cut_is_invalid(altered: Recorded) -> None:
    lines = altered.folder.trace.read_bytes().splitlines(keepends=True)
    altered.folder.trace.write_bytes(b"".join(lines[:-1]))
    again = sandbox("grade", "last", "--runs", altered.folder.path.parent)
    assert again.code == 4
    assert "does not end with run_ended" in again.out


def test_evidence_that_reads_well_and_is_not_the_runs_own_is_refused(altered: Recorded) -> None:
    path = altered.folder.changes
    text = path.read_text()
    assert "filesize.py" in text
    path.write_text(text.replace("filesize.py", "filesizes.py"))
    again = sandbox("grade", "last", "--runs", altered.folder.path.parent)
    assert again.code == 4
    assert f"{path} was altered" in again.err


@pytest.mark.parametrize("name", ["changes.json", "candidate.tar.zst", "tests.json"])
def test_a_broken_file_is_named(altered: Recorded, name: str) -> None:
    path = altered.folder.path / name
    path.write_bytes(path.read_bytes()[:-40])
    again = sandbox("grade", "last", "--runs", altered.folder.path.parent)
    assert again.code == 4
    assert f"{path} was altered" in again.err


def test_a_run_whose_record_is_broken_is_named(altered: Recorded) -> None:
    path = altered.folder.path / "run.json"
    path.write_bytes(path.read_bytes()[:-40])
    again = sandbox("grade", "last", "--runs", altered.folder.path.parent)
    assert again.code == 3
    assert f"{path} cannot be read" in again.err


@pytest.mark.parametrize("name", ["trace.jsonl", "changes.json", "candidate.tar.zst", "tests.json"])
def test_missing_evidence_is_no_pass(altered: Recorded, name: str) -> None:
    (altered.folder.path / name).unlink()
    again = sandbox("grade", "last", "--runs", altered.folder.path.parent)
    assert again.code == 3
    assert name in again.err


# Looking at it, long after the container has gone


def test_what_differs_is_listed_with_its_owners(oracle: Oracle) -> None:
    shown = sandbox("diff", "last", "--runs", oracle.runs, DOCKER_HOST=NO_ENGINE)
    assert shown.code == 0
    rows = shown.out.splitlines()
    assert "M  must        /home/agent/humanize/src/humanize/filesize.py" in rows
    assert "A  must        /home/agent/humanize/tests/regressions/test_hum_214.py" in rows
    assert any(row.startswith("git  commit ") and "filesize: " in row for row in rows)
    assert rows[-1].startswith("3 paths differ; ")
    everything = sandbox("diff", "last", "--all", "--runs", oracle.runs).out
    assert "generated" in everything
    listed = json.loads(sandbox("diff", "last", "--json", "--runs", oracle.runs).out)
    assert len(listed["changes"]) == len([row for row in everything.splitlines() if row[1] == " "])


def test_the_text_that_differs_is_a_patch(oracle: Oracle) -> None:
    shown = sandbox("diff", "last", "--patch", "--runs", oracle.runs)
    assert shown.code == 0
    assert "-        if round(bytes_ / unit, 3) < 1:\n" in shown.out
    assert "# must: /home/agent/humanize/changes/HUM-214.fix.md\n" in shown.out


def test_a_trace_is_shown(oracle: Oracle) -> None:
    shown = sandbox("trace", "last", "--runs", oracle.runs)
    assert shown.code == 0
    rows = shown.out.splitlines()
    assert len(rows) == len(oracle.stored.entries) + 1
    assert rows[0].split()[3:5] == ["run_started", HUMANIZE]
    assert rows[-2].split()[3:5] == ["run_ended", "final_answer"]
    assert rows[-1] == f"{len(oracle.stored.entries)} events, hash chain whole"
    stored = sandbox("trace", "last", "--json", "--runs", oracle.runs).out
    assert stored == oracle.stored.folder.trace.read_text()


def test_a_verdict_is_shown_by_any_name_of_the_run(oracle: Oracle) -> None:
    run_id = oracle.stored.folder.id
    for name in ("last", run_id, run_id[:6]):
        shown = sandbox("show", name, "--runs", oracle.runs)
        assert shown.code == 0
        assert shown.out.splitlines()[0].startswith(f"{run_id}  {HUMANIZE}  agent oracle")
        assert "verdict: passed" in shown.out.splitlines()
    unknown = sandbox("show", "nothing", "--runs", oracle.runs)
    assert unknown.code == 2
    assert run_id in unknown.err
