"""Instances of the SWE-bench family, by whichever of its data sets they are written."""

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox.model.errors import DocumentError
from sandbox.tasks.imports.instances import Instance, read

BENCH: dict[str, Any] = {
    "instance_id": "pallets__flask-5014",
    "repo": "pallets/flask",
    "base_commit": "7ee9ceb71e868944a46e1ff00b506772a53a4f1d",
    "patch": "diff --git a/a.py b/a.py\n",
    "test_patch": "diff --git a/tests/test_a.py b/tests/test_a.py\n",
    "problem_statement": "It has no name.\r\nIt should have one.\r\n",
    "hints_text": "Look into a.py.",
    "version": "2.3",
    "FAIL_TO_PASS": '["tests/test_a.py::test_b"]',
    "PASS_TO_PASS": "[]",
}


def written(tmp_path: Path, *rows: dict[str, Any] | str) -> Path:
    path = tmp_path / "instances.jsonl"
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def one(tmp_path: Path, **changed: object) -> Instance:
    (found,), broken = read(written(tmp_path, {**BENCH, **changed}))
    assert not broken
    return found


def test_lists_stand_in_strings_or_as_they_are(tmp_path: Path) -> None:
    for form in ('["a", "b"]', "['a', 'b']", ["a", "b"]):
        assert one(tmp_path, FAIL_TO_PASS=form).fail_to_pass == ("a", "b")


def test_an_agent_is_told_the_issue_and_no_hint(tmp_path: Path) -> None:
    assert one(tmp_path).told == "It has no name.\nIt should have one."


def test_pro_tells_requirements_and_interface(tmp_path: Path) -> None:
    row = {**BENCH, "requirements": "- A name.", "interface": "name() -> str"}
    row["fail_to_pass"] = f"['{row.pop('FAIL_TO_PASS')[2:-2]}']"
    row["pass_to_pass"] = row.pop("PASS_TO_PASS")
    (found,), _ = read(written(tmp_path, row))
    assert found.fail_to_pass == ("tests/test_a.py::test_b",)
    assert found.told.endswith("Requirements:\n- A name.\n\nInterface:\nname() -> str")


def test_pictures_and_what_else_is_not_kept_is_told(tmp_path: Path) -> None:
    pictures = '{"problem_statement": ["a picture"], "patch": [], "test_patch": []}'
    multimodal = one(tmp_path, image_assets=pictures, created_at="2024", eval_type="fail_only")
    assert set(multimodal.notes) == {
        "Pictures of its issue, its fix or its tests (image_assets) are not shown.",
        "Tests that passed before count here, whatever its eval_type says.",
    }
    pro = one(tmp_path, before_repo_set_cmd="git checkout x", odd=1, eval_type="pass_and_fail")
    assert set(pro.notes) == {
        "Commands that prepare its repository (before_repo_set_cmd) are not run.",
        "Fields that are not known here were not read: odd.",
    }
    assert one(tmp_path, image_assets="{}", hints_text="").notes == ()
    # What is told does not make another instance of it.
    assert pro.model_dump_json() == one(tmp_path).model_dump_json()


def test_smith_plants_its_patch_on_a_commit_that_its_repository_names(tmp_path: Path) -> None:
    found = one(tmp_path, repo="swesmith/oauthlib__oauthlib.1fd52536", base_commit="")
    assert (found.upstream, found.commit, found.plants) == ("oauthlib/oauthlib", "1fd52536", True)


def test_a_name_serves_as_a_folder(tmp_path: Path) -> None:
    assert one(tmp_path).name == "pallets-flask-5014"
    assert (
        one(tmp_path, instance_id="instance_NodeBB__NodeBB-04").name == "instance-nodebb-nodebb-04"
    )


def test_a_list_in_json_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    path.write_text(json.dumps([BENCH]))
    assert [each.instance_id for each in read(path)[0]] == ["pallets__flask-5014"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"FAIL_TO_PASS": "[]"}, "line 1: FAIL_TO_PASS is empty"),
        ({"FAIL_TO_PASS": "nothing"}, "line 1: FAIL_TO_PASS: is neither a list"),
        ({"FAIL_TO_PASS": "[" * 100_000}, "line 1: FAIL_TO_PASS: is neither a list"),
        ({"problem_statement": " \n"}, "line 1: problem_statement is empty"),
        ({"base_commit": ""}, "line 1: base_commit is missing"),
        ({"base_commit": "--upload-pack=x"}, "line 1: base_commit: "),
        ({"repo": "../../etc"}, "line 1: repo: "),
        ({"repo": "../x"}, "line 1: repo: "),
        ({"instance_id": "x" * 300}, "line 1: instance_id: "),
        ({"instance_id": "../x"}, "line 1: instance_id: "),
        ({"patch": ""}, "line 1: patch: "),
    ],
)
def test_what_is_wrong_is_told_by_line_and_field(
    tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    other = {**BENCH, "instance_id": "pallets__flask-1"}
    found, (broken,) = read(written(tmp_path, {**BENCH, **changed}, other))
    assert [each.instance_id for each in found] == ["pallets__flask-1"]
    assert said in broken.problems[0]


def test_an_instance_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    found, (broken,) = read(written(tmp_path, BENCH, BENCH))
    assert len(found) == 1
    assert "line 2: instance_id: pallets__flask-5014 is there twice" in broken.problems[0]


def test_what_is_null_or_a_number_is_taken_for_what_it_means(tmp_path: Path) -> None:
    found = one(tmp_path, requirements=None, PASS_TO_PASS=None, test_patch=None, version=2.3)
    assert (found.requirements, found.pass_to_pass, found.version) == ("", (), "2.3")


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "holds no instance"), ("{", "line 1: is not JSON"), ("[" * 100_000, "is not JSON")],
)
def test_a_file_that_holds_no_instances_says_so(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "instances.jsonl"
    path.write_text(text)
    with pytest.raises(DocumentError) as raised:
        read(path)
    assert said in raised.value.message
    assert "nothing was imported" in raised.value.next_step


def test_a_parquet_file_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "instances.parquet"
    path.write_bytes(b"PAR1\xff\x00")
    with pytest.raises(DocumentError) as raised:
        read(path)
    assert "JSON lines" in raised.value.message
