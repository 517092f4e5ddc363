"""A recorded terminal becomes a draft of a task, where its commands can be repeated."""

import json
from pathlib import Path

import pytest

from sandbox.model import documents
from sandbox.model.task import Script, TaskFile
from tests.end_to_end.commands import Ended, sandbox
from tests.end_to_end.project import Project

pytestmark = pytest.mark.engine

BASH = Path(__file__).parents[1] / "sandbox/tasks/imports/recordings/bash.cast"
ON, OFF = "\x1b[?2004h", "\x1b[?2004l\r"


def imported(project: Project, file: Path, *options: str) -> Ended:
    return sandbox(
        "import", "recording", file, "--repository", "inflection", *options, **project.environment
    )


def cast(folder: Path, *commands: str) -> Path:
    """A recording of commands that printed nothing."""
    file = folder / "short.cast"
    head = {"version": 2, "width": 80, "height": 24}
    rows = [[1.0, "o", f"{ON}$ {each}\r\n{OFF}"] for each in commands]
    file.write_text("\n".join(map(json.dumps, [head, *rows])))
    return file


@pytest.mark.slow
def test_a_recording_becomes_a_task_with_a_check_for_each_change(project: Project) -> None:
    ended = imported(project, BASH, "--name", "prepare", "--told", "Prepare the release 0.5.2.")
    assert ended.code == 0, ended
    assert ended.out.splitlines()[0] == "bash.cast: imported, inflection/prepare"
    folder = project.folder / "task_repos/inflection/prepare"
    task = documents.load(folder / "task.yaml", TaskFile)
    checks = ("CHANGES", "docs/deprecations.rst", "inflection/__init__.py", "MANIFEST.in")
    assert task.tests.fail_to_pass == checks
    assert task.scope.git.commits == "required"
    assert task.prompt.startswith("Prepare the release 0.5.2.")
    assert [*task.refused] == ["first-half", "second-half"]
    assert documents.load(folder / "first-half.yaml", Script)
    commands = (folder / "commands.yaml").read_text()
    assert "- command: cd docs\n  changes: []\n" in commands
    assert "  - docs/deprecations.rst\n" in commands

    again = imported(project, BASH, "--name", "prepare", "--told", "Prepare the release 0.5.2.")
    assert again.out.splitlines()[0] == "bash.cast: there already, inflection/prepare"
    other = imported(project, BASH, "--name", "prepare", "--told", "Another wish.")
    assert (other.code, "was made of something else" in other.out) == (1, True)
    checked = sandbox("check", "inflection/prepare", **project.environment)
    assert checked.code == 0, checked
    half = sandbox(
        "run", "inflection/prepare", "--agent", folder / "second-half.yaml", **project.environment
    )
    assert half.code == 1, half.out
    assert "docs/deprecations.rst, which has to be fixed, ended as failed" in half.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("commands", "said"),
    [
        (("ls", "git status"), "change nothing that could be checked"),
        (("echo a > /tmp/a",), "change nothing that could be checked"),
        (("echo a > x", "echo b > x"), "second half alone passes"),
    ],
)
def test_what_its_commands_do_not_show_is_refused(
    project: Project, tmp_path: Path, commands: tuple[str, ...], said: str
) -> None:
    ended = imported(project, cast(tmp_path, *commands))
    assert (ended.code, said in ended.out) == (1, True), ended
    assert not (project.folder / "task_repos/inflection/short").exists()


@pytest.mark.slow
def test_what_is_another_each_time_is_only_asked_to_be_there(
    project: Project, tmp_path: Path
) -> None:
    here = "/srv/me/inflection"
    file = cast(
        tmp_path,
        "date +%N > when",
        f"printf '[pytest]\\n' > {here}/pytest.ini",
        "printf 'x' > 'a name'; chmod +x 'a name'",
    )
    ended = imported(project, file, "--place", here)
    assert ended.code == 0, ended
    assert "Another content each time, so only their being there is checked: when." in ended.out
    assert "Its prompt is to be written" in ended.out
    folder = project.folder / "task_repos/inflection/short"
    task = documents.load(folder / "task.yaml", TaskFile)
    assert task.tests.fail_to_pass == ("a%20name", "pytest.ini", "when")
    assert task.scope.may[0] == "pytest.ini", "it crosses because it is named"
    assert task.scope.git.commits == "none"


@pytest.mark.slow
def test_a_repository_that_is_not_there_is_told(project: Project) -> None:
    ended = sandbox("import", "recording", BASH, "--repository", "gone", **project.environment)
    assert (ended.code, "There is no repository 'gone'." in ended.err) == (2, True)
    ended = imported(project, BASH, "--name", "../x")
    assert (ended.code, "'../x' is not a valid name of a task." in ended.out) == (1, True)
    ended = imported(project, BASH, "--release", "9.9")
    assert (ended.code, "inflection has no release 9.9." in ended.out) == (1, True)
