"""Test ids of a task are recorded as its oracle tells them apart."""

import json
from pathlib import Path

import pytest

from sandbox.model import documents
from sandbox.model.task_tests import RecordedTests
from tests.end_to_end.commands import HUMANIZE, sandbox
from tests.end_to_end.project import Project


@pytest.mark.thorough
@pytest.mark.engine
def test_ids_that_were_lost_are_found_again(project: Project, runs: Path) -> None:
    file = project.task.with_name("tests.yaml")
    whole = documents.load(file, RecordedTests)
    one = whole.fail_to_pass[0]
    # With a slip, for which the task is refused by all but `record`.
    file.write_text(f"fail_to_pass: ['{one}', 'tests/test_filesize.py::test_naturalsizes']\n")
    recorded = sandbox("record", HUMANIZE, "--runs", runs, **project.environment)
    assert recorded.code == 0, recorded
    assert f"fail_to_pass: {len(whole.fail_to_pass)}, before 2\n" in recorded.out
    assert "  - tests/test_filesize.py::test_naturalsizes\n" in recorded.out
    again = json.loads(
        sandbox("record", HUMANIZE, "--check", "--json", "--runs", runs, **project.environment).out
    )
    assert (again["tests"], again["written"]) == (again["before"], None)
    found = documents.load(file, RecordedTests)
    assert found.fail_to_pass[0] == one
    assert set(found.fail_to_pass) == set(whole.fail_to_pass)
    assert set(found.pass_to_pass) >= set(whole.pass_to_pass)


@pytest.mark.engine
@pytest.mark.thorough
def test_who_only_looks_writes_nothing(project: Project, runs: Path) -> None:
    file = project.task.with_name("tests.yaml")
    file.write_text(
        file.read_text().replace(
            "pass_to_pass:", "pass_to_pass:\n  - tests/test_filesize.py::test_gone", 1
        )
    )
    before = file.read_bytes()
    differs = sandbox("record", HUMANIZE, "--check", "--runs", runs, **project.environment)
    assert differs.code == 1, differs
    assert "  - tests/test_filesize.py::test_gone\n" in differs.out
    assert file.read_bytes() == before


def test_a_task_with_its_ids_in_its_own_file_is_refused() -> None:
    refused = sandbox("record", "cjson/planes")
    assert refused.code == 2
    assert "cjson/planes keeps the ids of its tests in task.yaml itself." in refused.err
    assert "`tests.recorded: tests.yaml`" in refused.err
