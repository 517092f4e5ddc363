"""`sandbox check` and `sandbox show --graph`, as people call them."""

import json
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from sandbox.model import places
from tests.end_to_end.commands import HUMANIZE, sandbox


@pytest.fixture
def without_push(tmp_path: Path) -> Path:
    """A project whose graph lacks the trap for one rule."""
    for name in ("images", "task_repos"):
        shutil.copytree(places.project() / name, tmp_path / name)
    path = tmp_path / "task_repos" / HUMANIZE / "task.yaml"
    text = path.read_text()
    start = text.index("    - id: push\n")
    end = text.index("    - id: answer-early\n")
    path.write_text(text[:start] + text[end:])
    return tmp_path


def test_a_sound_task_is_told_with_its_figures() -> None:
    ended = sandbox("check", HUMANIZE)
    assert ended.code == 0
    assert ended.out.startswith(f"{HUMANIZE}: ok, sound\n")
    assert "look-around > see-failure > fix > " in ended.out
    assert "length 8, actions 17" in ended.out


@pytest.mark.slow
def test_findings_are_told_and_end_in_1(without_push: Path) -> None:
    ended = sandbox("check", HUMANIZE, "--json", SANDBOX_PROJECT=str(without_push))
    assert ended.code == 1
    (report,) = json.loads(ended.out)
    (finding,) = report["findings"]
    assert finding["kind"] == "never_broken"
    assert "nothing-pushed" in finding["message"]
    assert not report["sound"]
    people = sandbox("check", SANDBOX_PROJECT=str(without_push))
    assert people.code == 1
    assert "finding     No path breaks the rule nothing-pushed" in people.out


def test_a_task_that_cannot_be_read_does_not_keep_the_others_from_being_listed(
    without_push: Path,
) -> None:
    broken = without_push / "task_repos" / HUMANIZE / "task.yaml"
    broken.write_text("id: [")
    for options in ((), ("--json",)):
        ended = sandbox("tasks", *options, SANDBOX_PROJECT=str(without_push))
        assert ended.code == 2
        assert HUMANIZE not in ended.out
        assert "cjson/planes" in ended.out
        assert "task.yaml:2: " in ended.err


def test_a_bound_that_is_hit_is_a_finding() -> None:
    ended = sandbox("check", HUMANIZE, "--bound", "10")
    assert ended.code == 1
    assert "The bound of 10 states was hit." in ended.out


@pytest.mark.parametrize("wrong", [("check", "humanize/none"), ("check", HUMANIZE, "--bound", "0")])
def test_what_cannot_be_checked_ends_in_2(wrong: tuple[str, ...]) -> None:
    assert sandbox(*wrong).code == 2


def test_a_graph_is_drawn_to_a_file_or_printed(tmp_path: Path) -> None:
    path = tmp_path / "task.svg"
    ended = sandbox("show", HUMANIZE, "--graph", "svg", "--output", path)
    assert (ended.code, ended.out) == (0, "")
    assert ET.parse(path).getroot().tag.endswith("svg")
    printed = sandbox("show", HUMANIZE, "--graph", "mermaid")
    assert printed.code == 0
    assert printed.out.startswith("flowchart TD\n")


def test_a_drawing_that_cannot_be_written_ends_in_2(tmp_path: Path) -> None:
    ended = sandbox("show", HUMANIZE, "--graph", "svg", "--output", tmp_path)
    assert ended.code == 2
    assert "cannot be written" in ended.err
    assert sandbox("show", HUMANIZE, "--output", tmp_path / "x").code == 2
