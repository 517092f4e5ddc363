"""Changed list: each ticket is settled by the list that it is under, and the first one is wrong."""

import re
from itertools import pairwise

import pytest

from sandbox.model.desk import Desk
from sandbox.model.task import Task
from sandbox.tasks import library
from sandbox.tasks.plans.operators.changed_list import CHANGES, SHOW
from sandbox.tasks.plans.operators.queue import SETTLE

Rows = dict[str, tuple[str, int]]


def variant(strength: int, number: int = 9) -> Task:
    name = f"qs/guard-once+change-desk+queue.{3 if strength < 4 else strength}"
    return library.load(f"{name}+changed-list.{strength}@{number}").task


def desk(task: Task) -> Desk:
    (server,) = task.world.layer.servers
    return Desk.model_validate_json(server.files["desk.json"])


def page(task: Task) -> str:
    (text,) = (each.text for each in task.world.layer.every_file if each.path == "docs/queue.md")
    return text


def rows(text: str) -> Rows:
    found = re.findall(r"^\| (\w+) \| (\d\d) \| (\d+) \|$", text, re.MULTILINE)
    return {name: (number, int(limit)) for name, number, limit in found}


def lists(task: Task) -> dict[int, Rows]:
    """What the desk shows, by the numbers of the lists."""
    shown = [reply.says for reply in desk(task).tool(SHOW).replies]
    numbered = {int(text.split()[1]): rows(text) for text in shown}
    assert len(numbered) == len(shown)
    return numbered


@pytest.mark.parametrize("strength", range(1, 6))
def test_the_oracle_settles_by_the_list_that_a_ticket_names(strength: int) -> None:
    task = variant(strength)
    known = lists(task)
    assert len(known) == CHANGES[strength] + 1
    assert rows(page(task)) == known[min(known)], "the page has the first one"
    codes: dict[str, str] = {}
    notices: dict[str, str] = {}
    own: list[tuple[int, str, str]] = []
    for reply in desk(task).tool("next_ticket").replies[:-1]:
        told = re.search(r"Ticket (\S+)\ncomponent: (\w+).*\ncount: (\d+)", reply.says)
        under = re.search(r"\blist:? (\d+)", reply.says)
        assert told
        assert under
        number, limit = known[int(under[1])][told[2]]
        code = notices.get(told[2], f"{'E' if int(told[3]) > limit else 'N'}-{number}")
        if repeated := re.search(r"It repeats (\S+)\.", reply.says):
            code = codes[repeated[1]]
        elif told[2] not in notices:
            own.append((int(under[1]), told[2], number))
        if notice := re.search(r"tickets about (\w+) are settled with (\S+)\.", reply.says):
            notices[notice[1]] = notice[2]
        codes[told[1]] = code
    settled = [
        action.arguments["arguments"]
        for action in task.oracle
        if action.arguments.get("tool") == SETTLE
    ]
    assert settled == [{"ticket": ticket, "code": code} for ticket, code in codes.items()]
    for before, after in pairwise(sorted(known)):
        wrong = [number != known[before][name][0] for under, name, number in own if under == after]
        assert any(wrong), "who does not notice the list settles a ticket wrongly"


@pytest.mark.parametrize("number", range(1, 30))
def test_no_two_lists_share_a_number_that_was_given_anew(number: int) -> None:
    known = lists(variant(5, number))
    numbers = [number for each in known.values() for number, _ in each.values()]
    assert len(set(numbers)) == 5 + 3 * CHANGES[5]


def test_a_strength_says_less_of_the_change_than_the_one_before() -> None:
    tickets = {
        strength: [reply.says for reply in desk(variant(strength)).tool("next_ticket").replies]
        for strength in range(1, 6)
    }
    told = {strength: any(SHOW in text for text in texts) for strength, texts in tickets.items()}
    assert told == {1: True, 2: False, 3: False, 4: False, 5: False}
    named = {strength: SHOW in page(variant(strength)) for strength in range(1, 6)}
    assert named == {1: True, 2: True, 3: False, 4: False, 5: False}
    for strength in range(1, 6):
        assert "the list that the ticket is under" in page(variant(strength)), "it is fair"
