"""Seeds are mined by the command, and each can be tried again."""

import json
import re
from pathlib import Path

import pytest

from sandbox.model import documents, yaml_tree
from sandbox.model.seed import Seed, SeedFile
from sandbox.tasks.drafts import seed_folder
from tests.end_to_end.commands import mine, sandbox
from tests.end_to_end.project import Project

pytestmark = pytest.mark.engine


def seeds(project: Project) -> Path:
    return project.folder / "task_repos/inflection/seeds.yaml"


def noticing(seed: Seed) -> list[str]:
    """The files of the tests that notice a seed."""
    return sorted({test.partition("::")[0] for test in seed.fail_to_pass})


@pytest.mark.thorough
def test_what_is_mined_is_written_down_and_holds(project: Project) -> None:
    seeds(project).unlink()
    words = ("inflection", "--count", "1", "--places", "2", "--seed", "11")
    ended = mine(*words, **project.environment)
    assert ended.code == 0, ended
    assert "tests pass without a defect" in ended.out
    (seed,) = documents.load(seeds(project), SeedFile).seeds
    assert seed.id in ended.out
    assert 0 < seed.figures.failing < seed.figures.of
    assert seed.figures.places == len(seed.kinds) == 2
    held = mine("inflection", "--check", **project.environment)
    assert (held.code, f"ok   {seed.id}" in held.out) == (0, True), held
    more = mine("inflection", "--count", "1", "--json", **project.environment)
    assert [each["id"] for each in json.loads(more.out)["seeds"]] == [
        each.id for each in documents.load(seeds(project), SeedFile).seeds if each.id != seed.id
    ]


@pytest.mark.slow
def test_places_that_mask_each_other_are_mined(project: Project) -> None:
    seeds(project).unlink()
    words = ("inflection", "--count", "1", "--places", "3", "--masking")
    ended = mine(*words, **project.environment)
    assert ended.code == 0, ended
    (seed,) = documents.load(seeds(project), SeedFile).seeds
    assert seed.masking
    assert len(seed.edits) == seed.figures.places == 3
    held = mine("inflection", "--check", **project.environment)
    assert (held.code, f"ok   {seed.id}" in held.out) == (0, True), held


@pytest.mark.slow
def test_a_seed_that_does_not_mask_is_told(project: Project) -> None:
    stored = documents.load(seeds(project), SeedFile).seeds
    seed = next(each for each in stored if each.figures.places == 2 and not each.masking)
    other = seed.model_copy(update={"masking": True})
    file = SeedFile(release="0.5.1", seeds=(other,)).model_dump(mode="json")
    seeds(project).write_text(yaml_tree.text(file))
    ended = mine("inflection", "--check", **project.environment)
    assert ended.code == 1, ended
    assert f"bad  {seed.id}  its places do not mask each other: " in ended.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--masking",), "One place masks nothing"),
        (("--wide",), "several calls of one function"),
        (("--wide", "--masking", "--places", "4"), "several calls of one function"),
        (("--sanitized",), "not mined under sanitizers"),
        (("--costs",), "No tests of inflection count what calls cost"),
        (("--kind", "bad-luck"), "no kind 'bad-luck'"),
    ],
)
def test_what_cannot_be_drawn_is_a_mistake(words: tuple[str, ...], told: str) -> None:
    ended = mine("inflection", *words)
    assert (ended.code, told in ended.err) == (2, True), ended


@pytest.mark.slow
def test_all_calls_of_a_function_are_mined(project: Project) -> None:
    seeds(project).unlink()
    words = ("inflection", "--count", "1", "--places", "4", "--wide")
    ended = mine(*words, **project.environment)
    assert ended.code == 0, ended
    (seed,) = documents.load(seeds(project), SeedFile).seeds
    assert seed.kinds == ("argument-order",) * seed.figures.places
    lines = "".join(edit.before for edit in seed.edits).splitlines()
    assert len(lines) == seed.figures.places >= 4
    assert all("_irregular(" in line for line in lines)


@pytest.mark.slow
def test_what_costs_more_alone_is_mined(project: Project) -> None:
    file = project.folder / "task_repos/more-itertools/seeds.yaml"
    file.unlink()
    # The other tests take a minute, and are not what notices it.
    mining = file.with_name("mining.yaml")
    fewer = "tests: [tests/test_costs.py, tests/test_recipes.py]\n"
    text = re.sub(r"(?m)^tests:\n(- .*\n)+", fewer, mining.read_text())
    mining.write_text(re.sub("(?m)^command: .*$", "command: pytest -q tests/test_costs.py", text))
    words = ("more-itertools", "--costs", "--count", "1", "--kind", "unbounded-memory")
    ended = mine(*words, **project.environment)
    assert ended.code == 0, ended
    (seed,) = documents.load(file, SeedFile).seeds
    assert seed.kinds == ("unbounded-memory",)
    assert noticing(seed) == ["tests/test_costs.py"]


@pytest.mark.slow
def test_what_sanitizers_alone_notice_is_mined(project: Project) -> None:
    file = project.folder / "task_repos/cjson/seeds.yaml"
    stored = documents.load(file, SeedFile)
    seed = next(each for each in stored.seeds if each.sanitized and len(noticing(each)) == 1)
    # The other files of tests take minutes to compile under sanitizers, and do not notice it.
    mining = file.with_name("mining.yaml")
    fewer = f"tests: [{', '.join(noticing(seed))}]"
    mining.write_text(re.sub("(?m)^tests: .*$", fewer, mining.read_text()))
    told = stored.model_copy(update={"seeds": (seed,)}).model_dump(mode="json")
    file.write_text(yaml_tree.text(told))
    held = mine("cjson", "--check", **project.environment)
    assert (held.code, f"ok   {seed.id}" in held.out) == (0, True), held
    noticed = seed.model_copy(update={"sanitized": False})
    file.write_text(yaml_tree.text({**told, "seeds": [noticed.model_dump(mode="json")]}))
    ended = mine("cjson", "--check", **project.environment)
    assert f"bad  {seed.id}  no test notices it" in ended.out


@pytest.mark.thorough
def test_a_seed_that_does_not_hold_is_told(project: Project) -> None:
    seed = documents.load(seeds(project), SeedFile).seeds[0]
    other = seed.model_copy(update={"fail_to_pass": seed.fail_to_pass[:-1]})
    file = SeedFile(release="0.5.1", seeds=(other,)).model_dump(mode="json")
    seeds(project).write_text(yaml_tree.text(file))
    ended = mine("inflection", "--check", **project.environment)
    assert ended.code == 1, ended
    assert f"bad  {seed.id}  {len(seed.fail_to_pass)} tests fail, where" in ended.out
    again = mine("inflection", "--check", "--json", **project.environment)
    assert again.code == 1
    assert [(each["seed"], each["holds"]) for each in json.loads(again.out)] == [(seed.id, False)]


@pytest.mark.slow
def test_a_seed_that_an_agent_would_not_see_is_told(project: Project) -> None:
    seed = documents.load(seeds(project), SeedFile).seeds[0]
    file = SeedFile(release="0.5.1", seeds=(seed,)).model_dump(mode="json")
    seeds(project).write_text(yaml_tree.text(file))
    mining = seeds(project).with_name("mining.yaml")
    whole = mining.read_text()
    for command, code, told in (
        ("echo", 1, f"bad  {seed.id}  its `command` ends with 0, not with 1"),
        ("pytest -q nowhere", 4, "would see the tests of inflection fail as they are"),
    ):
        mining.write_text(re.sub("(?m)^command: .*$", f"command: {command}", whole))
        ended = mine("inflection", "--check", **project.environment)
        assert ended.code == code, ended
        assert told in ended.out + ended.err


def test_a_repository_without_a_description_is_a_mistake() -> None:
    ended = mine("qs")
    assert ended.code == 2
    assert "can be mined" in ended.err


@pytest.mark.thorough
@pytest.mark.parametrize("name", [*seed_folder.names(), *seed_folder.estranged()])
def test_every_seed_of_a_repository_holds(name: str) -> None:
    ended = mine(name, "--check")
    assert ended.code == 0, ended.out


@pytest.mark.thorough
def test_a_seed_becomes_a_task_that_its_oracle_alone_passes(project: Project, runs: Path) -> None:
    seed = documents.load(seeds(project), SeedFile).seeds[0]
    near = sandbox("plant", "inflection", f"{seed.id}x", "planted", **project.environment)
    assert (near.code, seed.id in near.err) == (2, True)
    words = ("inflection", seed.id, "planted", "--json")
    planted = sandbox("plant", *words, **project.environment)
    assert planted.code == 0, planted
    assert json.loads(planted.out)["next"][0] == "sandbox record inflection/planted"
    task = "inflection/planted"
    recorded = sandbox("record", task, "--runs", runs, **project.environment)
    assert recorded.code == 0, recorded
    assert f"fail_to_pass: {len(seed.fail_to_pass)}, before" in recorded.out
    for agent, code in (("oracle", 0), ("null", 1)):
        ended = sandbox("run", task, "--agent", agent, "--runs", runs, **project.environment)
        assert ended.code == code, ended


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "draft"),
    [("go-version", "bare"), ("strsim", "bare"), ("strsim", "ticket"), ("cjson", "bare")],
)
def test_a_seed_of_a_compiled_language_becomes_a_task_whose_tests_leave_nothing_of_anybodys(
    project: Project, runs: Path, name: str, draft: str
) -> None:
    file = project.folder / "task_repos" / name / "seeds.yaml"
    seed = documents.load(file, SeedFile).seeds[0]
    planted = ("plant", name, seed.id, "planted", "--draft", draft)
    for line in (planted, ("record", f"{name}/planted")):
        made = sandbox(*line, **project.environment)
        assert made.code == 0, made
    words = ("run", f"{name}/planted", "--agent", "oracle", "--runs", runs)
    ended = sandbox(*words, **project.environment)
    assert ended.code == 0, ended


@pytest.mark.slow
def test_a_ticket_passes_by_its_oracle_alone(project: Project, runs: Path) -> None:
    seed = documents.load(seeds(project), SeedFile).seeds[0]
    words = ("inflection", seed.id, "planted", "--draft", "ticket")
    assert sandbox("plant", *words, **project.environment).code == 0
    for agent, code in (("oracle", 0), ("null", 1)):
        line = ("run", "inflection/planted", "--agent", agent, "--runs", runs)
        ended = sandbox(*line, **project.environment)
        assert ended.code == code, ended


def estranged(project: Project) -> Path:
    (path,) = (project.folder / "task_repos/inflection/estranged").iterdir()
    return path


@pytest.mark.thorough
def test_a_repository_is_given_the_same_names_each_time(project: Project) -> None:
    path, written = estranged(project), estranged(project).read_bytes()
    path.unlink()
    ended = sandbox("estrange", "inflection", **project.environment)
    assert ended.code == 0, ended
    assert path.read_bytes() == written
    again = sandbox("estrange", path.stem, **project.environment)
    assert (again.code, "other names already: it is inflection" in again.err) == (2, True)
    for verb in (("mine", path.stem), ("plant", path.stem, "x", "y")):
        refused = sandbox(*verb, **project.environment)
        assert (refused.code, "inflection under other names" in refused.err) == (2, True), refused


def test_a_seed_under_other_names_passes_by_its_oracle_alone(project: Project, runs: Path) -> None:
    name = estranged(project).stem
    task = f"{name}/ticket-{documents.load(seeds(project), SeedFile).seeds[0].id[-8:]}"
    for agent, code in (("oracle", 0), ("null", 1)):
        ended = sandbox("run", task, "--agent", agent, "--runs", runs, **project.environment)
        assert ended.code == code, ended
    shown = sandbox("run", task, "--agent", "null", "--json", "--runs", runs, **project.environment)
    assert "inflection" not in shown.out
