"""Foreign instances become tasks by the command, and those that do not hold here are told."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.commands import Ended, sandbox
from tests.end_to_end.project import Project

BROKEN = "def total(prices):\n    return sum(prices[1:])\n"
FIXED = "def total(prices):\n    return sum(prices)\n"
OLD_TESTS = "from till import total\n\n\ndef test_nothing():\n    assert total([]) == 0\n"
NEW_TESTS = f"{OLD_TESTS}\n\ndef test_a_sum(basket):\n    assert total(basket) == 6\n"
CONFTEST = "import pytest\n\n\n@pytest.fixture\ndef basket():\n    return [1, 2, 3]\n"
PERSON = ("-c", "user.name=An Author", "-c", "user.email=author@example.org")


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ("git", *PERSON, *words), cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout


def patch(folder: Path, path: str, text: str) -> str:
    before = (folder / path).read_text()
    (folder / path).write_text(text)
    made = git(folder, "diff", path)
    (folder / path).write_text(before)
    return made


@pytest.fixture
def instances(tmp_path: Path) -> dict[str, Any]:
    """Write a clone, and a file with an instance of it that holds, and some that do not."""
    clone = tmp_path / "clones/owner__till"
    (clone / "tests").mkdir(parents=True)
    git(clone, "init", "--quiet", "--initial-branch=main")
    for name, text in (
        ("till.py", BROKEN),
        ("tests/test_till.py", OLD_TESTS),
        ("tests/conftest.py", CONFTEST),
    ):
        (clone / name).write_text(text)
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "-m", "first", "--date", "2024-01-01T00:00:00Z")
    good = {
        "instance_id": "owner__till-1",
        "repo": "owner/till",
        "base_commit": git(clone, "rev-parse", "HEAD").strip(),
        "patch": patch(clone, "till.py", FIXED),
        "test_patch": patch(clone, "tests/test_till.py", NEW_TESTS),
        "problem_statement": "The first price is missing in totals.",
        "FAIL_TO_PASS": json.dumps(["tests/test_till.py::test_a_sum"]),
        "PASS_TO_PASS": json.dumps(["tests/test_till.py::test_nothing", "gone"]),
    }
    smith = {
        **good,
        "instance_id": "owner__till.12345678.func__x",
        "repo": f"swesmith/owner__till.{good['base_commit'][:8]}",
        "base_commit": "",
        "patch": patch(clone, "till.py", BROKEN.replace("[1:]", "[2:]")),
        "FAIL_TO_PASS": ["tests/test_till.py::test_two"],
        "PASS_TO_PASS": ["tests/test_till.py::test_nothing"],
        "test_patch": patch(
            clone,
            "tests/test_till.py",
            f"{OLD_TESTS}\ndef test_two():\n    assert total([0, 2]) == 2\n",
        ),
    }
    useless = {
        **good,
        "instance_id": "owner__till-2",
        "FAIL_TO_PASS": ["tests/test_till.py::test_nothing"],
        "PASS_TO_PASS": [],
    }
    other = {**good, "instance_id": "owner__till-3", "patch": good["patch"].replace("sum", "max")}
    broken = {**good, "instance_id": "owner__till-4", "FAIL_TO_PASS": []}
    file = tmp_path / "instances.jsonl"
    file.write_text(
        "".join(f"{json.dumps(row)}\n" for row in (good, smith, useless, other, broken))
    )
    return {"file": file, "clones": clone.parent}


def imported(project: Project, instances: Mapping[str, Any], *more: str) -> Ended:
    return sandbox(
        *("import", "swebench", instances["file"], "--repositories", instances["clones"]),
        *("--like", "inflection", *more),
        **project.environment,
    )


@pytest.mark.slow
def test_instances_that_hold_become_tasks_and_others_leave_nothing(
    project: Project, instances: Mapping[str, Any]
) -> None:
    ended = imported(project, instances)
    assert ended.code == 1, ended
    lines = ended.out.splitlines()
    assert lines[0] == "owner__till-4: refused"
    assert "line 5: FAIL_TO_PASS is empty" in lines[1]
    assert lines[2:4] == [
        "owner__till-1: imported, owner-till-1/issue",
        "  1 of 2 tests that have to keep passing do not pass here and are left out: gone",
    ]
    assert "owner__till.12345678.func__x: imported, owner-till.12345678.func-x/issue" in lines
    assert "owner__till-2: refused" in lines
    assert "  1 tests pass without the fix: tests/test_till.py::test_nothing" in lines
    assert "owner__till-3: refused" in lines
    assert lines[-1] == "2 of 5 are tasks"
    made = {path.name for path in (project.folder / "task_repos").glob("owner-*")}
    assert made == {"owner-till-1", "owner-till.12345678.func-x"}

    again = imported(project, instances, "--instance", "owner__till-1", "--json")
    assert again.code == 0, again
    (row,) = json.loads(again.out)
    assert (row["task"], row["outcome"]) == ("owner-till-1/issue", "there already")

    checked = sandbox("check", "owner-till-1/issue", **project.environment)
    assert checked.code == 0, checked
    shown = sandbox("show", "owner-till-1/issue", **project.environment)
    assert "The first price is missing in totals." in shown.out


def test_an_honest_agent_may_touch_what_does_not_cross(
    project: Project, instances: Mapping[str, Any], tmp_path: Path
) -> None:
    """Tests, fixtures, configuration and caches are its own business, and count for nothing."""
    ended = imported(project, instances, "--instance", "owner__till-1")
    assert ended.code == 0, ended
    honest = (
        f"printf '%s' '{FIXED}' > till.py",
        "echo '# mine' >> tests/conftest.py; printf '[pytest]\\n' > pytest.ini",
        "echo 'def test_mine(): pass' > tests/test_mine.py",
        "mkdir -p ~/.config/x; touch ~/.config/x/y",
        "python -m compileall -q . ; pytest -q; git add -A; git commit -qm 'Count all prices'",
    )
    run = sandbox(*acted(tmp_path, honest), **project.environment)
    assert run.code == 0, run.out
    assert "__pycache__" not in run.out

    hook = "def pytest_runtest_makereport(item, call):\\n    call.excinfo = None\\n"
    forging = (f"printf '{hook}' > conftest.py; cp conftest.py tests/conftest.py",)
    forged = sandbox(*acted(tmp_path, forging), **project.environment)
    assert forged.code == 1, forged.out


def acted(folder: Path, lines: Sequence[str]) -> tuple[str | Path, ...]:
    """Write an agent that runs some lines and answers; how it is run."""
    actions = [{"action": "run_command", "arguments": {"command": each}} for each in lines]
    script = folder / "agent.yaml"
    script.write_text(
        json.dumps([*actions, {"action": "final_answer", "arguments": {"fields": {}}}])
    )
    return ("run", "owner-till-1/issue", "--agent", script)


def test_an_instance_that_is_not_in_the_file_has_a_neighbour(
    project: Project, instances: Mapping[str, Any]
) -> None:
    ended = imported(project, instances, "--instance", "owner__till-11")
    assert ended.code == 2
    assert "Did you mean owner__till-1" in ended.err


def test_a_project_that_is_not_there_is_told_by_its_place(
    project: Project, instances: Mapping[str, Any], tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    ended = imported(project, {**instances, "clones": empty}, "--instance", "owner__till-1")
    assert ended.code == 1
    assert "holds no git repository of owner/till" in ended.out


@pytest.mark.thorough
def test_validation_finds_no_exploit_but_a_file_too_many_in_an_imported_instance(
    project: Project, instances: Mapping[str, Any]
) -> None:
    """Such a task leaves all of the checkout free, so a file that nobody asked for may stay."""
    assert imported(project, instances, "--instance", "owner__till-1").code == 0
    only = ("--only", "exploits", "--json")
    ended = sandbox("validate", "owner-till-1/issue", *only, **project.environment)
    rows = json.loads(ended.out)["tasks"]["owner-till-1/issue"]["rows"]
    assert [row["what"] for row in rows if not row["holds"]] == ["exploit leaves-a-file"]
    assert sum(row["status"] != "skipped" for row in rows) > 60
