"""`sandbox generate` and `sandbox tasks --suite` on the command line; neither needs an engine."""

import json
from pathlib import Path

import pytest

from tests import ROOT
from tests.end_to_end.commands import sandbox


@pytest.mark.slow
def test_variants_are_drawn_shown_and_written_to_a_suite(tmp_path: Path) -> None:
    path = tmp_path / "new/suite.yaml"
    request = ("--facet", "git_hygiene", "--level", "L2", "--count", "2", "--seed", "3")
    ended = sandbox("generate", *request, "--out", path)
    assert ended.code == 0, ended.err
    assert f"written to {path}" in ended.err
    head, *rows = ended.out.splitlines()
    assert head.split() == ["level", "added", "actions", "turns", "pushback", "pattern", "variant"]
    names = [row.split()[-1] for row in rows]
    assert len(names) == 2
    assert all(name.startswith("cjson/planes+change-desk.1+") for name in names)
    again = sandbox("generate", *request, "--json")
    assert [made["variant"] for made in json.loads(again.out)] == names
    listed = sandbox("tasks", "--suite", path)
    assert listed.code == 0
    assert [row.split()[-1] for row in listed.out.splitlines()] == names
    assert sandbox("check", names[0]).code == 0


@pytest.mark.slow
def test_variants_are_drawn_of_seeds(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    request = ("--seeds", "humanize", "--seeds", "go-*", "--split", "train", "--level", "L2")
    ended = sandbox("generate", *request, "--count", "1", "--out", path)
    assert ended.code == 0, ended.err
    names = [row.split()[-1] for row in ended.out.splitlines()[1:]]
    assert len(names) == 7
    assert {name.partition("/")[0] for name in names} <= {"humanize", "go-semver"}
    assert sandbox("tasks", "--suite", path).code == 0


def test_a_suite_that_is_not_as_pinned_is_told(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    written = (ROOT / "suites/standard.yaml").read_text().split("- variant: ")
    path.write_text("- variant: ".join(written[:3]).replace("digest: ", "digest: 0"))
    ended = sandbox("tasks", "--suite", path)
    assert ended.code == 1
    assert "2 of 2 are not as they were pinned" in ended.err
    missing = sandbox("tasks", "--suite", tmp_path / "none.yaml")
    assert missing.code == 2
    assert "cannot be read" in missing.err


@pytest.mark.slow
def test_what_cannot_be_drawn_is_told_in_a_sentence(tmp_path: Path) -> None:
    for arguments, said in (
        (("--facet", "x"), "No task has the facet 'x'."),
        (("--level", "L8"), "There is no level 'L8'."),
        (("--operators", "zzz"), "There is no operator 'zzz'."),
        (("--out", tmp_path), "is a folder."),
        (("--seeds", "nope"), "No repository with seeds is like 'nope'."),
        (("--seeds", "all", "--tasks", "suites/gold.tasks.yaml"), "--seeds draws them."),
    ):
        ended = sandbox("generate", *arguments)
        assert ended.code == 2, arguments
        assert said in ended.err
