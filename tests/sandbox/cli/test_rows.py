"""What single lines say: of differences, verdicts, actions, abandoned containers."""

from pathlib import Path

import pytest

from sandbox.agents.program_agent import CommandAgent
from sandbox.agents.scripted import ScriptedAgent
from sandbox.cli.agent import choose_agent
from sandbox.cli.agent_choice import AgentChoice
from sandbox.cli.change_rows import git_rows, row
from sandbox.cli.event_text import SHOWN, described
from sandbox.cli.verbs.gc import STARTING, abandoned
from sandbox.cli.verbs.run import ended
from sandbox.cli.verbs.show import reason_row, unfinished, verdict_rows
from sandbox.container.engines.base import CREATED, ContainerInfo
from sandbox.model.change import Change, FileState, GitChange, GitState, Owner
from sandbox.model.errors import AgentError, DocumentError, UsageError
from sandbox.model.event import ActionTaken, Observed
from sandbox.model.grade import Grade, Reason, RunGrade
from sandbox.model.observation import ErrorCode, Observation
from sandbox.model.run_folder import RunFolder
from sandbox.model.session import FileKind
from sandbox.model.verdict import Verdict
from sandbox.run.run_containers import KEPT, RUN
from sandbox.tasks import library

FILE = FileState(kind=FileKind.FILE, mode=0o644, uid=10001, gid=10001, size=1)
FOLDER = FILE.model_copy(update={"kind": FileKind.DIRECTORY, "mode": 0o755})
SCRIPT = FILE.model_copy(update={"mode": 0o755})
ROOTS = FILE.model_copy(update={"uid": 0})


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (None, FILE, "A  may         /a"),
        (None, FOLDER, "A  may         /a/"),
        (FILE, None, "D  may         /a"),
        (FOLDER, None, "D  may         /a/"),
        (FILE, SCRIPT, "M  may         /a  mode 644 -> 755"),
        (FILE, ROOTS, "M  may         /a  owner 10001 -> 0"),
        (FOLDER, FILE, "T  may         /a  mode 755 -> 644"),
    ],
)
def test_a_path_that_differs(before: FileState | None, after: FileState | None, text: str) -> None:
    assert row(Change(path="/a", owner=Owner.MAY, before=before, after=after)) == text


def test_a_path_that_would_steer_the_terminal() -> None:
    change = Change(path="/\x1b[2J\n/b", owner=Owner.COLLATERAL, before=None, after=FILE)
    assert row(change) == "A  collateral  /\\x1b[2J\\n/b"


def test_what_differs_in_git() -> None:
    before = GitState(
        head="main", refs={"refs/heads/main": "a" * 40}, index=(), stash=(), files={"config": "1"}
    )
    after = GitState(
        head="other",
        refs={"refs/heads/main": "b" * 40, "refs/tags/\x1b": "c" * 40},
        index=(),
        stash=("d" * 40,),
        files={"config": "2", "hooks/x": "3"},
    )
    assert git_rows(GitChange(before=before, after=after, commits=())) == [
        "git  ref refs/heads/main  aaaaaaaaaaaa -> bbbbbbbbbbbb",
        "git  ref refs/tags/\\x1b  none -> cccccccccccc",
        "git  HEAD  main -> other",
        "git  stash  0 -> 1 entries",
        "git  changed  config",
        "git  changed  hooks/x",
    ]


def test_a_reason_says_where_to_look_once() -> None:
    told = Reason(message="README.md was changed", path="README.md", event=7)
    assert reason_row(told) == "    README.md was changed  (event 7)"
    assert reason_row(Reason(message="It is \x1b[31mwrong")) == "    It is \\x1b[31mwrong"


def test_a_verdict_with_many_reasons() -> None:
    reasons = tuple(Reason(message=f"reason {number}") for number in range(8))
    part = Grade(grader="tests", verdict=Verdict.FAILED, reasons=reasons)
    grade = RunGrade(
        run="0123456789", task="a/b", task_digest="", verdict=Verdict.FAILED, grades=(part,)
    )
    rows = verdict_rows(grade, 2)
    assert rows[0] == "verdict: failed"
    assert rows[1].split() == ["tests", "failed"]
    assert rows[2:] == [
        "    reason 0",
        "    reason 1",
        "    and 6 more: sandbox show 01234567",
    ]
    assert len(verdict_rows(grade)) == 2 + 8


def test_a_run_without_a_verdict() -> None:
    assert unfinished("") == "no verdict: the run has not ended"
    assert unfinished("It was interrupted.") == "no verdict: It was interrupted."


@pytest.mark.parametrize(
    ("running", "begun", "age", "kept", "expected"),
    [
        (True, True, 99999, False, (False, False)),
        (False, True, 0, False, (True, True)),
        (False, False, 0, False, (False, False)),
        (False, False, STARTING + 1, False, (True, True)),
        (False, True, 99999, True, (False, True)),
    ],
)
def test_containers_that_no_run_uses(
    *, running: bool, begun: bool, age: float, kept: bool, expected: tuple[bool, bool]
) -> None:
    labels = {CREATED: "1000"} | ({KEPT: "1"} if kept else {})
    container = ContainerInfo("c", labels, running=running, begun=begun)
    found = tuple(abandoned(container, kept_too=too, now=1000 + age) for too in (False, True))
    assert found == expected


@pytest.mark.parametrize("running", [True, False])
def test_a_run_that_is_over_uses_no_container_any_more(running: bool) -> None:
    """The engine may be starting one only now, which then runs until it finds nobody."""
    labels = {CREATED: "1000", RUN: "dead"}
    container = ContainerInfo("c", labels, running=running, begun=running)
    assert abandoned(container, kept_too=False, now=1000, over={"dead"})
    assert not abandoned(container, kept_too=False, now=1000, over={"other"})
    kept = ContainerInfo("c", {**labels, KEPT: "1"}, running=running, begun=running)
    assert not abandoned(kept, kept_too=False, now=1000, over={"dead"})


def action(name: str, **arguments: str) -> ActionTaken:
    return ActionTaken(name=name, arguments=dict(arguments))


def test_an_action_in_a_line() -> None:
    assert described(action("run_tests")) == "run_tests "
    assert described(action("run_command", command="a\nb\x1b")) == "run_command a\\nb\\x1b"
    assert described(action("read_file", path="a")) == "read_file a"
    patch = "--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n--- comment\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n"
    assert described(action("apply_patch", patch=patch)) == "apply_patch x, y"
    long = described(action("run_command", command="x" * 999))
    assert len(long) == len("run_command ") + SHOWN
    assert long.endswith("…")


@pytest.mark.parametrize(
    ("observation", "text"),
    [
        (Observation(), "ok"),
        (Observation(result={"exit_code": 3}), "exit 3"),
        (Observation(result={"passed": 2, "failed": 1, "exit_code": 1}), "2 passed, 1 failed"),
        (
            Observation(result={"passed": 0, "failed": 0, "errors": 2, "exit_code": 2}),
            "0 passed, 0 failed, 2 errors",
        ),
        (Observation(status="error", error_code=ErrorCode.TIMEOUT), "timeout"),
    ],
)
def test_how_an_action_ended(observation: Observation, text: str) -> None:
    assert ended(Observed(name="a", observation=observation)) == text


def test_agents_are_chosen_by_name_file_or_command(tmp_path: Path) -> None:
    loaded = library.load("humanize/file-sizes")
    script = tmp_path / "script.yaml"
    script.write_text("- action: run_tests\n")
    folder = RunFolder(tmp_path)
    agents = {
        text: choose_agent(AgentChoice(text), loaded)(folder)
        for text in ("oracle", "null", str(script), "python agent.py")
    }
    assert [agent.name for agent in agents.values()] == list(agents)
    assert isinstance(agents[str(script)], ScriptedAgent)
    assert isinstance(agents["python agent.py"], CommandAgent)


def test_an_agent_that_cannot_be_chosen(tmp_path: Path) -> None:
    loaded = library.load("humanize/file-sizes")
    with pytest.raises(DocumentError, match="cannot be read"):
        choose_agent(AgentChoice(str(tmp_path / "none.yaml")), loaded)
    for text in ("", "'"):
        with pytest.raises(AgentError):
            choose_agent(AgentChoice(text), loaded)(RunFolder(tmp_path))


def test_a_model_needs_a_name_a_key_and_its_price(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = library.load("humanize/file-sizes")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UsageError, match="needs a model"):
        choose_agent(AgentChoice("llm"), loaded)
    with pytest.raises(UsageError, match="the variable OPENAI_API_KEY is not set"):
        choose_agent(AgentChoice("llm", model="m"), loaded)
    with pytest.raises(UsageError, match="go with `--agent llm`"):
        choose_agent(AgentChoice("oracle", model="m"), loaded)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    prices = tmp_path / "prices.yaml"
    prices.write_text("other:\n  input: 3\n  output: 15\n")
    with pytest.raises(UsageError, match="no price for m"):
        choose_agent(AgentChoice("llm", model="m", prices=prices), loaded)
    made = choose_agent(AgentChoice("llm", model="other", prices=prices), loaded)(
        RunFolder(tmp_path)
    )
    assert made.name == "llm:other"
