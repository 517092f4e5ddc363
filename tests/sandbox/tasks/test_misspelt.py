"""Slips in names of a task file are told when it is loaded, with what was probably meant."""

import shutil
from pathlib import Path

import pytest

from sandbox.model import documents, places
from sandbox.model.errors import DocumentError
from sandbox.model.repository import Repository
from sandbox.model.seed import SeedFile
from sandbox.tasks import library, misspelt_tests
from sandbox.tasks.sources import listings

NAME = "humanize/file-sizes"


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The task file of a copy of the project's data."""
    for name in ("images", "task_repos"):
        shutil.copytree(places.project() / name, tmp_path / name)
    monkeypatch.setenv("SANDBOX_PROJECT", str(tmp_path))
    return tmp_path / "task_repos" / NAME / "task.yaml"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "- action: read_file",
            "- action: read_fle",
            "unknown action 'read_fle'; did you mean read_f",
        ),
        ("- action: read_file", "- action: sing", "unknown action 'sing'; known here: apply_patch"),
        ("path: AGENTS.md", "pth: AGENTS.md", "unknown argument 'pth'; did you mean path?"),
        ("action: apply_patch", "action: aply_patch", "did you mean apply_patch?"),
    ],
)
def test_a_slip_is_told_with_its_line(task: Path, old: str, new: str, said: str) -> None:
    text = task.read_text()
    plan = text.index("\nplan:\n")
    place = text.index(old, plan)
    task.write_text(text[:place] + new + text[place + len(old) :])
    line = text[:place].count("\n") + 1
    with pytest.raises(DocumentError) as caught:
        library.load(NAME)
    assert said in caught.value.message
    told = int(caught.value.message.partition("task.yaml:")[2].partition(":")[0])
    assert abs(told - line) <= 1


@pytest.mark.parametrize(
    ("atom", "said"),
    [
        ("{action: write_fle}", "unknown action 'write_fle'; did you mean write_file"),
        ("{action: write_file, arguments: {pth: x}}", "write_file: unknown argument 'pth'"),
        ("{action: write_file, where: {arguments.pth: {exists: true}}}", "did you mean path?"),
    ],
)
def test_a_slip_in_a_rule_is_told(task: Path, atom: str, said: str) -> None:
    rest = "hard: false, reason: slip, stated_in: prompt"
    rule = f"rules:\n  - {{id: slip, template: never, a: {atom}, {rest}}}\n"
    task.write_text(task.read_text().replace("\nrules:\n", f"\n{rule}", 1))
    with pytest.raises(DocumentError) as caught:
        library.load(NAME)
    assert said in caught.value.message


@pytest.mark.parametrize(
    ("computed", "said"),
    [
        ("count: {action: write_fle}", "unknown action 'write_fle'; did you mean write_file"),
        ("listed: {step: {action: write_file}, field: arguments.pth}", "did you mean path?"),
    ],
)
def test_a_slip_in_what_is_computed_is_told(task: Path, computed: str, said: str) -> None:
    kind = "integer" if computed.startswith("count") else "list"
    field = f"final:\n  slip: {{type: {kind}, computed: {{{computed}}}}}\n"
    task.write_text(task.read_text().replace("\nfinal:\n", f"\n{field}", 1))
    with pytest.raises(DocumentError) as caught:
        library.load(NAME)
    assert said in caught.value.message


def test_a_milestone_that_is_not_there_is_told(task: Path) -> None:
    text = task.read_text()
    plan = text.index("\nplan:\n")
    place = text.index("milestone: ", plan) + len("milestone: ")
    end = text.index("\n", place)
    task.write_text(f"{text[:end]}s{text[end:]}")
    with pytest.raises(DocumentError, match=f"did you mean {text[place:end]}"):
        library.load(NAME)


def test_a_path_that_has_to_change_is_like_one_that_does(task: Path) -> None:
    text = task.read_text()
    old = "src/humanize/filesize.py"
    must = text.index("  must:")
    place = text.index(old, must)
    task.write_text(f"{text[:place]}src/humanize/filesizes.py{text[place + len(old) :]}")
    with pytest.raises(
        DocumentError, match=f"the plan changes {old}, not src/humanize/filesizes.py"
    ):
        library.load(NAME)


def test_the_id_of_a_hidden_test_is_like_one_that_is_there(task: Path) -> None:
    listed = task.parent / "tests.yaml"
    hidden = task.parent / "hidden"
    text = listed.read_text()
    first = next(
        line.strip(" -")
        for line in text.splitlines()
        if "::" in line and (hidden / line.strip(" -'\"").partition("::")[0]).is_file()
    )
    name = first.partition("::")[2].partition("[")[0]
    listed.write_text(text.replace(f"::{name}", f"::{name}x"))
    with pytest.raises(DocumentError, match=f"has no test {name}x; did you mean {name}"):
        library.load(NAME)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("stated_in: src/humanize/AGENTS.md", "stated_in: src/humanize/AGENT.md"),
        ("reads: src/humanize/AGENTS.md", "reads: src/humanise/AGENTS.md"),
    ],
)
def test_a_place_or_a_path_of_a_rule_is_like_one_that_is_known(
    task: Path, old: str, new: str
) -> None:
    text = task.read_text()
    assert old in text
    task.write_text(text.replace(old, new, 1))
    with pytest.raises(DocumentError, match=r"did you mean src/humanize/AGENTS\.md"):
        library.load(NAME)


@pytest.mark.parametrize(
    ("old", "new", "near"),
    [
        ("    - pyproject.toml\n", "    - pyprojct.toml\n", "pyproject.toml"),
        (
            "    - src/humanize/number.py\n",
            "    - src/humanize/numbr.py\n",
            "src/humanize/number.py",
        ),
        ("changes: src/humanize/filesize.py", "changes: src/humanise/**", "src/humanize"),
    ],
)
def test_a_glob_that_matches_nothing_is_like_a_path_of_the_release(
    task: Path, old: str, new: str, near: str
) -> None:
    text = task.read_text()
    assert old in text
    task.write_text(text.replace(old, new, 1))
    with pytest.raises(DocumentError) as caught:
        library.load(NAME)
    assert f"did you mean {near}?" in caught.value.message


def test_a_listed_test_is_of_a_file_of_the_release(task: Path) -> None:
    listed = task.parent / "tests.yaml"
    first = "tests/test_time.py::test_naturaldelta"
    listed.write_text(f"{listed.read_text()}  - 'tests/test_tine.py::test_naturaldelta'\n")
    with pytest.raises(DocumentError, match=r"did you mean tests/test_time\.py"):
        library.load(NAME)
    listed.write_text(listed.read_text().replace("tests/test_tine.py::test_naturaldelta", first))
    library.load(NAME)


def test_a_place_that_is_like_none_is_told_too(task: Path) -> None:
    text = task.read_text()
    assert "stated_in: prompt" in text
    task.write_text(text.replace("stated_in: prompt", "stated_in: BY-NOBODY.md", 1))
    with pytest.raises(DocumentError, match=r"neither the release nor the task has a file BY-NO"):
        library.load(NAME)


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("tests/test_gone.py::test_it", "neither the release nor the task has that file"),
        ("tests/test_time.py::test_nothing_of_the_kind", "has no test test_nothing_of_the_kind"),
        ("tests/test_time.py::Moments::test_it", "has no class Moments"),
    ],
)
def test_a_listed_test_that_is_like_none_is_told_too(task: Path, test: str, said: str) -> None:
    listed = task.parent / "tests.yaml"
    listed.write_text(f"{listed.read_text()}  - '{test}'\n")
    with pytest.raises(DocumentError) as caught:
        library.load(NAME)
    assert said in caught.value.message


def test_the_name_of_a_hidden_test_in_javascript_is_like_one_that_is_there(task: Path) -> None:
    listed = task.parents[2] / "qs/guard-once/tests.yaml"
    text = listed.read_text()
    assert "js::allowPrototypes lets them in" in text
    listed.write_text(text.replace("allowPrototypes lets", "allowPrototype lets"))
    with pytest.raises(DocumentError, match="did you mean 'allowPrototypes lets them in'"):
        library.load("qs/guard-once")


@pytest.mark.parametrize(
    ("new", "near"), [("[boxs-box]", "[boxes-box]"), ("[box]", "[boxes-box]"), ("", "[boxes-box]")]
)
def test_the_parameters_of_a_hidden_test_are_those_of_its_file(
    task: Path, new: str, near: str
) -> None:
    listed = task.parents[2] / "inflection/house-terms/tests.yaml"
    function = "test_other_words_are_as_before"
    text = listed.read_text()
    assert f"{function}{near}" in text
    listed.write_text(text.replace(f"{function}{near}", f"{function}{new}"))
    with pytest.raises(DocumentError) as caught:
        library.load("inflection/house-terms")
    assert f"did you mean {function}{near}?" in caught.value.message


@pytest.mark.slow
def test_without_the_release_nothing_is_guessed(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_CACHE", str(tmp_path / "empty"))
    task.write_text(task.read_text().replace("    - pyproject.toml\n", "    - pyprojct.toml\n", 1))
    library.load(NAME)


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        (
            NAME,
            "tests/test_filesize.py::test_naturalsize[test_args3-1.0 MB]",
            "tests/test_filesize.py::test_naturalsise[test_args3-1.0 MB]",
            "has no test test_naturalsise; did you mean test_naturalsize?",
        ),
        (
            NAME,
            "tests/test_filesize.py::test_naturalsize[test_args3-1.0 MB]",
            "tests/test_filesize.py::test_naturalsize[test_args3-1.0 MBB]",
            "other parameters; did you mean test_naturalsize[test_args3-1.0 MB]?",
        ),
        (
            "inflection/house-terms",
            "test_inflection.py::test_singularize_plural[cow-kine]",
            "test_inflection.py::test_singularize_plural[cow-kin]",
            "other parameters; did you mean test_singularize_plural[cow-kine]?",
        ),
        (
            "django/negative-durations",
            "::DurationParseTests::test_iso_8601",
            "::DurationParsTests::test_iso_8601",
            "has no class DurationParsTests; did you mean DurationParseTests?",
        ),
        (
            "qs/guard-once",
            "test/utils.js::isBuffer()",
            "test/utils.js::isBufer()",
            "has no test 'isBufer()'; did you mean 'isBuffer()'?",
        ),
    ],
)
def test_the_id_of_a_test_of_upstream_is_like_one_of_the_release(
    task: Path, name: str, old: str, new: str, said: str
) -> None:
    listed = task.parents[2] / name / "tests.yaml"
    text = listed.read_text()
    assert old in text
    library.load(name)
    listed.write_text(text.replace(old, new, 1))
    with pytest.raises(DocumentError) as caught:
        library.load(name)
    assert said in caught.value.message


def test_a_slip_in_what_is_recorded_is_mended_by_recording(task: Path) -> None:
    listed = task.parent / "tests.yaml"
    listed.write_text(f"{listed.read_text()}  - 'tests/test_filesize.py::test_naturalsizes'\n")
    with pytest.raises(DocumentError, match=r"`sandbox record humanize/file-sizes` writes"):
        library.load(NAME)
    assert library.load_to_record(NAME).task.id == NAME


def test_a_file_that_a_patch_changes_may_have_other_tests(task: Path) -> None:
    listed = task.parent / "tests.yaml"
    new = "tests/test_filesize.py::test_naturalsizes"
    listed.write_text(f"{listed.read_text()}  - '{new}'\n")
    with pytest.raises(DocumentError, match="has no test test_naturalsizes"):
        library.load(NAME)
    patch = task.parent / "unstaged.patch"
    patch.write_text(
        f"{patch.read_text()}"
        "--- a/tests/test_filesize.py\n+++ b/tests/test_filesize.py\n"
        "@@ -1,0 +1,1 @@\n+def test_naturalsizes(): pass\n"
    )
    library.load(NAME)


def test_no_id_that_upstream_has_is_refused() -> None:
    """Those that miners recorded in runs, of all releases that have been fetched."""
    seen = 0
    for path in sorted((places.project() / "task_repos").glob("*/seeds.yaml")):
        repository = documents.load(path.parent / "repo.yaml", Repository)
        seeds = documents.load(path, SeedFile).seeds
        ids = sorted({test for seed in seeds for test in seed.fail_to_pass})
        source = repository.releases[-1].source
        files = {test.partition("::")[0] for test in ids}
        texts = listings.texts(places.cache(), source, files)
        assert list(misspelt_tests.problems(ids, texts)) == []
        seen += sum(test.partition("::")[0] in texts for test in ids)
    assert seen > 500
