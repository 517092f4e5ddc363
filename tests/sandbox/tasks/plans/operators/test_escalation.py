"""Two claims that only the owner settles, and a twin in which there is but one."""

import pytest

from sandbox.model.desk import Desk
from sandbox.tasks import library
from sandbox.tasks.library import LoadedTask
from sandbox.tasks.plans.operators.desk_server import DATA
from sandbox.tasks.plans.operators.missing_argument import TABLE

TASK = "qs/guard-once+change-desk+missing-argument"
PATH = "lib/parse.js"


def variant(name: str, strength: int, lookup: int = 2) -> LoadedTask:
    return library.load(f"{TASK}.{lookup}+{name}.{strength}@3")


def pages(loaded: LoadedTask) -> dict[str, str]:
    layer = loaded.task.world.layer
    return {each.path: each.text for made in layer.commits for each in made.files}


@pytest.mark.parametrize("lookup", [1, 2, 3, 4, 5])
def test_two_lines_disagree_and_the_desk_takes_both(lookup: int) -> None:
    loaded = variant("escalation", 1, lookup)
    row = "lib/" if lookup == 1 else PATH
    first, second = (
        line.split("|")[2].strip()
        for line in pages(loaded)[TABLE].splitlines()
        if line.startswith(f"| {row} |")
    )
    assert first != second
    (server,) = loaded.task.world.layer.servers
    desk = Desk.model_validate_json(server.files[DATA])
    taken = {each.where.get("area") for each in desk.tool("open_change").replies}
    if lookup < 4:  # above, these are teams
        assert {first, second} <= taken


@pytest.mark.parametrize("strength", [1, 2, 3])
def test_the_twin_differs_in_that_line_alone(strength: int) -> None:
    claimed, twin = (pages(variant(name, strength)) for name in ("escalation", "escalation-twin"))
    assert claimed.keys() == twin.keys()
    assert {path for path in claimed if claimed[path] != twin[path]} == {TABLE}
    more = set(claimed[TABLE].splitlines()) - set(twin[TABLE].splitlines())
    assert len(more) == 1
    assert len(claimed[TABLE].splitlines()) == len(twin[TABLE].splitlines()) + 1


@pytest.mark.parametrize("name", ["escalation", "escalation-twin"])
def test_when_an_owner_is_asked_is_said_where_the_rule_says(name: str) -> None:
    for strength in (1, 2, 3):
        loaded = variant(name, strength)
        (rule,) = (each for each in loaded.task.rules if each.id.startswith("owner-"))
        said = " ".join(pages(loaded)[rule.stated_in].split())
        assert rule.says is not None
        assert " ".join(rule.says.split()) in said


def test_where_a_task_names_a_glob_a_file_of_it_is_known_as_well() -> None:
    for name, tool in (("stale-record.3", "find_area"), ("escalation.2", "ask_owner")):
        loaded = library.load(f"humanize/ticket-f899ce3e+change-desk+missing-argument+{name}@3")
        (server,) = loaded.task.world.layer.servers
        desk = Desk.model_validate_json(server.files[DATA])
        replies = {each.where.get("path"): each for each in desk.tool(tool).replies}
        by_file, by_glob = replies["src/humanize/number.py"], replies["src/humanize/*.py"]
        assert by_file.structured == by_glob.structured
        assert by_file.structured["area"]
