"""Commands, tests and git on a real worktree."""

import errno
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from pydantic import JsonValue

from sandbox.container.engines.base import Session
from sandbox.model.action import GitDiff, RunCommand, RunTests
from sandbox.model.observation import ErrorCode
from sandbox.model.session import Command, Completed
from sandbox.run.actions.registry import perform, prepare
from sandbox.run.actions.told_outcomes import ToldOutcomes, outcomes_of, told_by
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


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<testsuite",
        b'<testsuite tests="x" failures="0" errors="0" skipped="0"/>',
        b'<testsuite tests="1"/>',
        b'<!DOCTYPE x [<!ENTITY a "b">]><testsuite tests="1" failures="0" errors="0" skipped="0"/>',
    ],
)
def test_what_is_no_report(content: bytes) -> None:
    assert outcomes_of(content) == ToldOutcomes()


def test_differences_and_their_owners(repository: Path, workspace: Workspace) -> None:
    (repository / "src" / "a.py").write_text("one\n2\nthree\n")
    (repository / "notes.md").rename(repository / "moved.md")
    (repository / "new\nfile").write_text("")
    (repository / "x.pyc").write_text("")
    scope: JsonValue = {
        "must": ["src/a.py"],
        "user": ["notes.md"],
        "generated": ["*.pyc"],
        "never": ["n*"],
    }
    ours = replace(workspace, task=task(scope=scope))
    result(RunCommand(command="git add -A notes.md moved.md && git add -N ."), ours)
    found = result(GitDiff(), ours)
    paths = cast(list[dict[str, str]], found["paths"])
    assert {path["path"]: (path["status"], path["owner"]) for path in paths} == {
        "src/a.py": (" M", "yours"),
        "moved.md": ("R ", "unclaimed"),
        "new\nfile": (" A", "forbidden"),
        "x.pyc": (" A", "generated"),
    }
    assert "-two\n+2\n" in cast(str, found["diff"])
    only = result(GitDiff(path="src"), ours)
    assert [path["path"] for path in cast(list[dict[str, str]], only["paths"])] == ["src/a.py"]


def test_the_text_of_new_files_is_shown_as_git_would_once_they_are_added(
    repository: Path, workspace: Workspace
) -> None:
    for name, content in {
        "plain": "a\nb\n",
        "one": "x\n",
        "cut": "no end",
        "empty": "",
        "ru\u00e9": "\u00e9\n",
    }.items():
        (repository / name).write_text(content)
    (repository / "binary").write_bytes(b"\xff\0")
    (repository / "tool").write_text("#!/bin/sh\n")
    (repository / "tool").chmod(0o755)
    (repository / "link").symlink_to("plain")
    shown = cast(str, result(GitDiff(), workspace)["diff"])
    git = ("git", "-c", "core.quotepath=false")
    subprocess.run((*git, "add", "."), cwd=repository, check=True)
    subprocess.run((*git, "rm", "-q", "--cached", "link"), cwd=repository, check=True)
    expected = subprocess.run((*git, "diff", "HEAD"), cwd=repository, capture_output=True)
    told = expected.stdout.decode().splitlines(keepends=True)
    assert shown == "".join(line for line in told if not line.startswith("index "))


def test_new_files_beyond_the_limit_are_left_out_and_that_is_said(
    repository: Path, workspace: Workspace
) -> None:
    (repository / "a").write_text("x" * 600)
    (repository / "b").write_text("y" * 600)
    found = result(GitDiff(), limited(workspace, observation_bytes=1024))
    assert found["truncated"]
    assert "x" * 600 in cast(str, found["diff"])
    assert "y" not in cast(str, found["diff"])


def test_whose_each_line_is_in_a_file_of_both(repository: Path, workspace: Workspace) -> None:
    file = repository / "src" / "a.py"
    users = "mine\none\ntwo\nthree\n"
    file.write_text("mine\none\n2\nthree\nfour\n")
    ours = replace(
        workspace,
        task=task(scope={"must": ["src/a.py"], "shared": ["src/a.py"]}),
        users_work={"src/a.py": users},
    )

    def told() -> list[tuple[int, int, str]]:
        paths = cast(list[dict[str, JsonValue]], result(GitDiff(), ours)["paths"])
        lines = cast(list[dict[str, JsonValue]], paths[0]["lines"])
        return [(cast(int, x["first"]), cast(int, x["last"]), str(x["owner"])) for x in lines]

    assert told() == [(1, 1, "user"), (3, 3, "yours"), (5, 5, "yours")]
    file.write_text("mine\none\nthree\n")
    assert told() == [(1, 1, "user"), (2, 2, "yours")]
    staged = ("one\n2\nthree\nfour\n", "mine\none\n2\nthree\nfour\n")
    file.write_text(staged[0])
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "fix"],
        cwd=repository,
        check=True,
    )
    file.write_text(staged[1])
    assert told() == [(1, 1, "user")]


def test_what_git_ignores_and_nobody_expects_is_told(
    repository: Path, workspace: Workspace
) -> None:
    (repository / ".gitignore").write_text("*.log\n*.pyc\n")
    (repository / "before.log").write_text("")
    time.sleep(0.05)
    begun = time.time_ns()
    time.sleep(0.05)
    (repository / "left.log").write_text("")
    (repository / "x.pyc").write_text("")
    ours = replace(workspace, task=task(scope={"generated": ["*.pyc"]}), begun_ns=begun)
    paths = cast(list[dict[str, str]], result(GitDiff(), ours)["paths"])
    assert [(x["path"], x["status"], x["owner"]) for x in paths] == [
        (".gitignore", "??", "unclaimed"),
        ("left.log", "!!", "unclaimed"),
    ]


def test_generated_files_are_told_by_their_folder_and_without_their_text(
    repository: Path, workspace: Workspace
) -> None:
    for name in ("lib/node_modules/a/b.js", "lib/node_modules/c.js", "x.pyc", "mine.txt"):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(f"text of {name}\n")
    scope: JsonValue = {"generated": ["**/node_modules", "**/node_modules/**", "*.pyc"]}
    ours = replace(workspace, task=task(scope=scope))
    found = result(GitDiff(), ours)
    paths = cast(list[dict[str, JsonValue]], found["paths"])
    assert [(x["path"], x["owner"], x["files"]) for x in paths] == [
        ("mine.txt", "unclaimed", None),
        ("lib/node_modules/", "generated", 2),
        ("x.pyc", "generated", None),
    ]
    assert "text of mine.txt" in cast(str, found["diff"])
    assert "text of lib" not in cast(str, found["diff"])
    asked = result(GitDiff(path="lib"), ours)
    assert "text of lib/node_modules/c.js" in cast(str, asked["diff"])


def test_a_long_difference_is_cut(repository: Path, workspace: Workspace) -> None:
    (repository / "notes.md").write_text("x\n" * 5000)
    found = result(GitDiff(), limited(workspace, observation_bytes=1024))
    assert found["truncated"]
    assert len(cast(str, found["diff"])) == 1024


def test_git_that_cannot_tell(workspace: Workspace) -> None:
    code, message = refusal(GitDiff(), workspace)
    assert code == ErrorCode.NOT_FOUND
    assert "not a git repository" in message


def test_a_lost_session_is_an_error(session: LocalSession, workspace: Workspace) -> None:
    class LostError(Exception):
        pass

    workspace = replace(workspace, session=cast(Session, session))
    session.lost = LostError()
    with pytest.raises(LostError):
        perform(prepare(RunCommand(command="true"), workspace), workspace)


@pytest.mark.parametrize(
    ("output", "counts"),
    [
        (b"1..3\n# tests 3\n# pass  3\n\n# ok\n", ToldOutcomes(3, 0, 0, 0)),
        (b"# tests 3\n# pass  2\n# fail  1\n", ToldOutcomes(2, 1, 0, 0)),
        (
            b"# tests 9\n# suites 0\n# pass 4\n# fail 2\n# cancelled 1\n# skipped 1\n# todo 1\n",
            ToldOutcomes(4, 2, 1, 2),
        ),
        ("\u2139 tests 1\n\u2139 pass 1\n\u2139 fail 0\n".encode(), ToldOutcomes(1, 0, 0, 0)),
        (b"# tests 1\n# pass  1\n# tests 2\n# pass  1\n# fail  1\n", ToldOutcomes(2, 1, 0, 0)),
        (b"Error: Cannot find module\n", ToldOutcomes()),
        (
            b"ok 1 a\nnot ok 2 b c\nnot ok 3 d # TODO\n# tests 3\n# pass  2\n# fail  1\n",
            ToldOutcomes(2, 1, 0, 0, ("b c",)),
        ),
        (
            "\u2716 adds (1.5ms)\n\u2139 tests 1\n\u2139 pass 0\n\u2139 fail 1\n".encode(),
            ToldOutcomes(0, 1, 0, 0, ("adds",)),
        ),
        (b"# pass  3\n", ToldOutcomes()),
        (b"# tests many\n", ToldOutcomes()),
    ],
)
def test_counts_are_those_that_tape_and_node_tell_at_their_end(
    output: bytes, counts: ToldOutcomes
) -> None:
    assert told_by(output, "tape") == counts


@pytest.mark.parametrize(
    ("framework", "output", "counts"),
    [
        ("go test", b"ok  \texample.org/a\t0.1s\n", ToldOutcomes()),
        (
            "go test",
            b"--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/x (0.00s)\nFAIL\n",
            ToldOutcomes(failing=("TestA",)),
        ),
        (
            "go test",
            (
                b"=== RUN   TestA\n--- PASS: TestA (0.00s)\n--- SKIP: TestB (0.00s)\n"
                b"--- FAIL: TestC (0.01s)\n"
            ),
            ToldOutcomes(1, 1, 0, 1, ("TestC",)),
        ),
        (
            "cargo test",
            (
                b"test a ... ok\ntest b::c ... FAILED\ntest d - should panic ... FAILED\n"
                b"test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n"
                b"test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n"
            ),
            ToldOutcomes(4, 2, 0, 1, ("b::c", "d")),
        ),
        ("cargo test", b"error: could not compile `a`\n", ToldOutcomes()),
        (
            "unity",
            (
                b"91% tests passed, 2 tests failed out of 22\n\nTotal Test time =   0.11 sec\n"
                b"\nThe following tests FAILED:\n"
                b"\t  5 - parse_string (Failed)\n\t 12 - b (SEGFAULT)\n"
            ),
            ToldOutcomes(20, 2, 0, 0, ("parse_string", "b")),
        ),
        ("unity", b"100% tests passed, 0 tests failed out of 1\n", ToldOutcomes(1, 0, 0, 0)),
        ("unity", b"cc: fatal error\n", ToldOutcomes()),
    ],
)
def test_counts_are_those_that_compiled_languages_tell(
    framework: str, output: bytes, counts: ToldOutcomes
) -> None:
    assert told_by(output, framework) == counts
