"""Decisions on kinds: read by the rule that they give, they name the kind of the oracle."""

import re

import pytest

from sandbox.model.desk import Desk
from sandbox.tasks import library
from sandbox.tasks.library import LoadedTask
from sandbox.tasks.plans.operators.desk_server import DATA

TASK = "qs/guard-once+change-desk"
PATH = "lib/parse.js"


def variant(strength: int, more: str = "", number: int = 1) -> LoadedTask:
    return library.load(f"{TASK}+instruction-conflict.{strength}{more}@{number}")


def kinds(loaded: LoadedTask) -> list[str]:
    """Give the kinds that the oracle opens entries with."""
    return [
        str(given["kind"])
        for action in loaded.task.oracle
        if action.action == "call_tool"
        and action.arguments["tool"] == "open_change"
        and isinstance(given := action.arguments["arguments"], dict)
    ]


def decided(loaded: LoadedTask) -> str:
    """Read the decisions as their README says, which names the rules that are needed."""
    layer = loaded.task.world.layer
    files = {each.path: each.text for made in layer.commits for each in made.files}
    pages = {
        name: text
        for path, text in files.items()
        if (name := path.removeprefix("docs/decisions/")) != path and name != "README.md"
    }
    gone = re.findall(r"Decision (\d+) is taken back", "".join(pages.values()))
    holding: list[tuple[int, int, str]] = []
    for name, text in pages.items():
        about = re.search(r"Changes of (.+) are entered with the kind `(\w+)`", text)
        head = re.search(r"^(\d+), (\w+)$", text, re.MULTILINE)
        if about is None or head is None or name.removesuffix(".md") in gone:
            continue
        if head[2] != "accepted":
            continue
        where = about[1].strip("`")
        near = len(where) if PATH.startswith(where) else 0
        holding.append((near, int(head[1]), about[2]))
    return max(holding)[2]


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("strength", [2, 3, 4, 5])
def test_the_decisions_name_the_kind(strength: int, number: int) -> None:
    loaded = variant(strength, number=number)
    assert kinds(loaded) == [decided(loaded)]


def test_the_users_word_holds() -> None:
    loaded = variant(1)
    (kind,) = kinds(loaded)
    assert f"is of the kind `{kind}`" in loaded.task.prompt


@pytest.mark.parametrize("strength", [1, 2, 3, 4, 5])
def test_the_last_word_is_not_the_one_that_holds(strength: int) -> None:
    loaded = variant(strength)
    layer = loaded.task.world.layer
    texts = [each.text for made in layer.commits for each in made.files]
    last = re.findall(r"kind `(\w+)`", "".join(texts))[-1]
    if strength == 2:  # here the later one holds
        last = re.findall(r"kind `(\w+)`", "".join(texts))[0]
    assert last not in kinds(loaded)


def test_every_desk_that_opens_entries_takes_a_kind() -> None:
    loaded = variant(3, "+unrecoverable-failure.4+decoy-tools.2")
    desks = [
        Desk.model_validate_json(server.files[DATA])
        for server in loaded.task.world.layer.servers
        if DATA in server.files
    ]
    opening = [tool for desk in desks for tool in desk.tools if tool.name == "open_change"]
    assert len(opening) == 4
    assert all("kind" in tool.arguments for tool in opening)
    assert len(set(kinds(loaded))) == 1


@pytest.mark.parametrize("strength", range(1, 6))
def test_where_code_may_lie_in_any_folder_none_is_named(strength: int) -> None:
    both = f"missing-argument.{strength}+instruction-conflict.{strength}"
    loaded = library.load(f"go-version/resume-84a29dea+change-desk.4+{both}@1")
    layer = loaded.task.world.layer
    assert loaded.task.scope.must[0] == "**/*.go"
    texts = [each.text for made in layer.commits for each in made.files]
    assert any("**/*.go" in text for text in texts) or strength == 1
    assert not re.findall(r"\*\*/(?=[`|\s])", "\n".join(texts))
