"""Commands and tests on a real worktree."""

import errno
import time
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from sandbox.container.engines.base import Session
from sandbox.model.action import RunCommand, RunTests
from sandbox.model.observation import ErrorCode
from sandbox.model.session import Command, Completed
from sandbox.run.actions.registry import perform, prepare
from sandbox.run.actions.workspace import Workspace
from tests.sandbox.local_session import LocalSession
from tests.sandbox.run.actions.acting import limited, refusal, result
from tests.sandbox.worlds import task


def test_a_command_is_run(root: Path, workspace: Workspace) -> None:
    (root / "sub").mkdir()
    line = "cat; pwd; echo oops >&2; printf '\\xff'; exit 3"
    found = result(RunCommand(command=line, cwd="sub", stdin="é\n"), workspace)
    assert found["exit_code"] == 3
    assert found["signal"] is None
    assert found["stdout"] == f"é\n{root}/sub\n�"
    assert found["stderr"] == "oops\n"
    assert found["timed_out"] is False
    assert result(RunCommand(command="kill -9 $$"), workspace)["signal"] == 9


def test_the_environment_is_fixed(
    workspace: Workspace, session: LocalSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "1")
    result(RunCommand(command="true"), workspace)
    (command,) = session.commands
    assert command.environment["PATH"].startswith("/opt/venv/bin:")
    assert command.environment["PYTHONHASHSEED"] == "0"
    assert "SECRET" not in command.environment
    assert command.user.uid == 10001


class _Full(LocalSession):
    """The container's limit is used up by what earlier commands have left running."""

    def __init__(self, left: int) -> None:
        super().__init__()
        self.left = left

    def run(self, command: Command) -> Completed:
        if self.left:
            raise BlockingIOError(errno.EAGAIN, "no further process can start")
        return super().run(command)

    def kill_all(self) -> int:
        self.left, left = 0, self.left
        return left


def test_room_is_made_where_no_process_can_start(root: Path) -> None:
    full = Workspace(cast(Session, _Full(61)), task(), str(root))
    assert result(RunCommand(command="echo alive"), full)["cleared"] == 61
    assert result(RunCommand(command="echo alive"), full)["cleared"] == 0


def test_where_no_room_can_be_made_it_is_said(root: Path) -> None:
    full = _Full(61)
    full.kill_all = lambda: 0  # type: ignore[method-assign]
    stuck = Workspace(cast(Session, full), task(), str(root))
    assert refusal(RunCommand(command="echo"), stuck)[0] is ErrorCode.NO_PROCESSES


def test_output_is_cut(workspace: Workspace) -> None:
    small = limited(workspace, observation_bytes=1024)
    found = result(RunCommand(command="head -c 5000 /dev/zero | tr '\\0' x"), small)
    assert (len(cast(str, found["stdout"])), found["stdout_truncated"]) == (1024, True)
    assert found["stderr_truncated"] is False


@pytest.mark.slow
def test_a_command_that_takes_too_long_keeps_its_output(workspace: Workspace) -> None:
    action = RunCommand(command="echo here; sleep 99", timeout_seconds=2.0)
    observation = perform(prepare(action, workspace), workspace).observation
    assert observation.error_code == ErrorCode.TIMEOUT
    took = float(str(observation.result["duration_seconds"]))
    assert took >= 2
    assert f"killed after {took:.1f} seconds" in (observation.message or "")
    assert observation.result["stdout"] == "here\n"
    assert observation.result["timed_out"] is True


def test_a_command_has_the_least_of_all_times(workspace: Workspace, session: LocalSession) -> None:
    result(RunCommand(command="true", timeout_seconds=9999), workspace)
    result(RunCommand(command="true", timeout_seconds=7), workspace)
    hurried = replace(workspace, deadline=time.monotonic() + 3)
    result(RunCommand(command="true"), hurried)
    given = [command.timeout or 0 for command in session.commands]
    assert given[:2] == [300, 7]
    assert 0 < given[2] <= 3


def test_commands_that_cannot_be_run(
    root: Path, workspace: Workspace, session: LocalSession
) -> None:
    (root / "f").write_text("")
    cases = [
        (RunCommand(command="true", cwd="gone"), ErrorCode.NOT_FOUND),
        (RunCommand(command="true", cwd="f"), ErrorCode.NOT_A_FOLDER),
        (RunCommand(command="a\0b"), ErrorCode.BAD_ARGUMENTS),
    ]
    for action, code in cases:
        assert refusal(action, workspace)[0] == code
    session.lost = BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
    found, message = refusal(RunCommand(command="true"), workspace)
    assert found == ErrorCode.NO_PROCESSES
    assert "/bin/bash" in message


TESTS = """
import pytest
def test_good(): pass
def test_bad(): assert False
@pytest.mark.skip
def test_skipped(): pass
@pytest.fixture
def broken(): raise ValueError
def test_error(broken): pass
"""


@pytest.mark.slow
def test_outcomes_are_counted(root: Path, workspace: Workspace, session: LocalSession) -> None:
    (root / "test_x.py").write_text(TESTS)
    found = result(RunTests(), workspace)
    counted = [found[name] for name in ("passed", "failed", "errors", "skipped", "exit_code")]
    assert counted == [1, 1, 1, 1, 1]
    assert found["command"] == "python -m pytest -q"
    assert found["failing"] == ["test_x.py::test_bad", "test_x.py::test_error"]
    assert found["problem"] == ""
    options = session.commands[0].environment["PYTEST_ADDOPTS"].split()
    assert not Path(options[0].removeprefix("--junitxml=")).exists()
    assert not list(root.glob("*.xml"))


@pytest.mark.slow
def test_who_is_told_fifty_names_learns_that_there_are_more(
    root: Path, workspace: Workspace
) -> None:
    for count in (50, 51):
        cases = f"@pytest.mark.parametrize('n', range({count}))"
        many = f"import pytest\n{cases}\ndef test_it(n): assert 0\n"
        (root / "test_x.py").write_text(many)
        found = result(RunTests(), workspace)
        assert found["failed"] == count
        assert len(cast(list[str], found["failing"])) == 50
        assert found["failing_truncated"] is (count > 50)


def test_without_a_report_there_are_no_counts(workspace: Workspace) -> None:
    found = result(RunTests(command="echo '5 passed'"), workspace)
    assert found["passed"] is None
    assert found["stdout"] == "5 passed\n"
    assert "exit code 0 before a test runner reported" in cast(str, found["problem"])


@pytest.mark.parametrize(
    ("line", "end"), [("kill -9 $$", "killed by signal 9"), ("exit 3", "exit code 3")]
)
def test_a_run_that_crashed_before_it_reported_says_so(
    workspace: Workspace, line: str, end: str
) -> None:
    assert end in cast(str, result(RunTests(command=line), workspace)["problem"])


CRASHING = "{ bash -c 'kill -SEGV $$' || echo other; } 2>&1"
OF_CARGO = "echo 'test result: ok. 3 passed; 0 failed; 0 ignored;'"


@pytest.mark.parametrize(
    ("framework", "line", "problem"),
    [
        ("make", "echo built", ""),
        ("make", "echo broken; exit 2", "exit code 2 and told no counts"),
        ("go test", "printf -- '--- FAIL: TestIt (0.00s)\\n'; exit 1", ""),
        ("unity", "kill -9 $$", "killed by signal 9 and told no counts"),
        ("unity", "echo '3 Tests 0 Failures 0 Ignored'; exit 2", "no test that was counted failed"),
        ("unity", "echo '3 Tests 1 Failures 0 Ignored'; exit 2", ""),
        ("unity", f"{CRASHING}; echo '3 Tests 1 Failures 0 Ignored'; exit 2", "ended by a signal"),
        ("cargo test", f"{OF_CARGO}; exit 101", "no test that was counted failed"),
    ],
)
def test_where_no_counts_are_told_none_failed_is_not_meant(
    workspace: Workspace, framework: str, line: str, problem: str
) -> None:
    tests = workspace.task.tests.model_copy(update={"framework": framework})
    counting = replace(workspace, task=workspace.task.model_copy(update={"tests": tests}))
    found = cast(str, result(RunTests(command=line), counting)["problem"])
    assert problem in found if problem else not found


def test_a_failing_test_is_named_by_its_id_and_without_colours(
    root: Path, workspace: Workspace
) -> None:
    (root / "deep").mkdir()
    (root / "deep" / "test_y.py").write_text(
        "import pytest\n"
        "class TestA:\n"
        "    class TestB:\n"
        "        @pytest.mark.parametrize('x', ['a.b', 'c'])\n"
        "        def test_it(self, x): assert x == 'c'\n"
    )
    (root / "test_z.py").write_text("import nothing_of_that_name\n")
    line = "python -m pytest -q --color=yes --continue-on-collection-errors"
    found = result(RunTests(command=line), workspace)
    assert set(cast(list[str], found["failing"])) == {
        "deep/test_y.py::TestA::TestB::test_it[a.b]",
        "test_z.py",
    }
    assert "\x1b" not in cast(str, found["stdout"])


def test_a_failing_test_of_an_inherited_class_is_named_in_its_own_file(
    root: Path, workspace: Workspace
) -> None:
    (root / "deep").mkdir()
    (root / "deep" / "__init__.py").touch()
    (root / "deep" / "test_base.py").write_text(
        "class TestBase:\n    good = True\n    def test_it(self): assert self.good\n"
    )
    (root / "deep" / "test_more.py").write_text(
        "from deep.test_base import TestBase as _Base\nclass TestMore(_Base):\n    good = False\n"
    )
    found = result(RunTests(), workspace)
    assert found["failing"] == ["deep/test_more.py::TestMore::test_it"]
    assert (found["passed"], found["failed"]) == (1, 1)


def test_a_lost_session_is_an_error(session: LocalSession, workspace: Workspace) -> None:
    class LostError(Exception):
        pass

    workspace = replace(workspace, session=cast(Session, session))
    session.lost = LostError()
    with pytest.raises(LostError):
        perform(prepare(RunCommand(command="true"), workspace), workspace)
