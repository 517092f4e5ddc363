"""A draft that is like another one has all of it but for what it gives itself."""

from pathlib import Path

import pytest

from sandbox.tasks.drafts import layout


@pytest.fixture
def drafts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(layout, "DRAFTS", tmp_path)
    base = tmp_path / "base"
    (base / "hooks").mkdir(parents=True)
    (base / "hooks/pre-commit").write_text("base")
    (base / "nested.md").write_text("base")
    (base / "task.yaml").write_text(
        "title: base\n"
        "tags: [one, two]\n"
        "rules: [{id: first, a: {exit_code: 1}}, {id: last}]\n"
        "final: {done: {type: boolean, expect: true}}\n"
    )
    return tmp_path


def test_members_are_joined_by_their_names(drafts: Path) -> None:
    (drafts / "own").mkdir()
    (drafts / "own/task.yaml").write_text(
        "like: base\n"
        "tags: [three]\n"
        "rules:\n"
        "- {id: first, a: {tests: x}}\n"
        "- {id: middle, ahead_of: last}\n"
        "- {id: end}\n"
        "final: {done: {expect: false}}\n"
    )
    task = layout.load("own").task
    assert task == {
        "title": "base",
        "tags": ["three"],
        "rules": [
            {"id": "first", "a": {"exit_code": 1, "tests": "x"}},
            {"id": "middle"},
            {"id": "last"},
            {"id": "end"},
        ],
        "final": {"done": {"type": "boolean", "expect": False}},
    }


def test_what_is_null_is_left_out(drafts: Path) -> None:
    (drafts / "own").mkdir()
    (drafts / "own/task.yaml").write_text("like: base\ntitle: null\nfinal: null\nrules: null\n")
    assert layout.load("own").task == {"tags": ["one", "two"]}


def test_a_member_can_be_left_out(drafts: Path) -> None:
    (drafts / "own").mkdir()
    (drafts / "own/task.yaml").write_text("like: base\nrules: [{id: first, left_out: true}]\n")
    assert layout.load("own").task["rules"] == [{"id": "last"}]


def test_files_of_its_own_stand_in_the_place_of_the_others(drafts: Path) -> None:
    (drafts / "own/hooks").mkdir(parents=True)
    (drafts / "own/task.yaml").write_text("like: base\n")
    (drafts / "own/hooks/commit-msg").write_text("own")
    laid = layout.load("own")
    assert sorted(laid.files) == ["hooks/commit-msg", "hooks/pre-commit"]
    assert laid.files["hooks/pre-commit"].read_text() == "base"
    assert laid.nested is not None
    assert laid.nested.read_text() == "base"
    (drafts / "own/hooks/pre-commit").write_text("own")
    assert layout.load("own").files["hooks/pre-commit"].read_text() == "own"
    assert layout.names() == ["base", "own"]
