"""What tells an agent from its next version."""

from pathlib import Path

import pytest

from sandbox.agents.program_digest import digest


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "agent.py"
    path.write_text("print(1)\n")
    return path


def test_an_edited_agent_is_another_one(agent: Path) -> None:
    before = digest("python3 agent.py --fast")
    assert before == digest("python3 agent.py --slow"), "options are in the command"
    agent.write_text("print(2)\n")
    assert digest("python3 agent.py --fast") not in ("", before)


def test_a_script_in_this_folder_counts(agent: Path) -> None:
    agent.with_name("script.yaml").write_text("[]")
    assert digest("script.yaml") != ""


def test_where_it_lies_makes_no_difference(agent: Path) -> None:
    assert digest("python3 agent.py") == digest(f"python3 {agent}")


def test_a_program_of_the_path_has_no_files_of_its_own(agent: Path) -> None:
    assert digest("true") == digest("python3 -m json.tool") == digest("'") == ""
    assert digest(f"{agent} --help") != ""


def test_what_an_agent_has_in_the_container_counts_whole(agent: Path, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep/prompt.txt").write_text("Be quick.")
    before = digest("run", folder)
    (folder / "deep/prompt.txt").rename(folder / "prompt.txt")
    assert digest("run", folder) not in ("", before)


def test_a_word_that_is_longer_than_any_path(agent: Path) -> None:
    assert digest(f"python3 -c '{'x' * 5000}'") == ""
