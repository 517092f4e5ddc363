"""Specifications: the same for the same number, each clause noticed, and meant as it is worded."""

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from sandbox.grading.cases import at_a_shell
from sandbox.grading.draws import Chance
from sandbox.grading.draws import drawn as drawn_input
from sandbox.model.draw import Input
from sandbox.tasks.features.clause import Amendment, Both, Changing, Exemption, Later, Term
from sandbox.tasks.features.drawn_clauses import LEAST, MOST, drawn
from sandbox.tasks.features.feature import TIMES
from sandbox.tasks.features.page import page
from sandbox.tasks.features.parts import Condition, Effect, kinds
from sandbox.tasks.features.source import source
from sandbox.tasks.features.specification import FUNCTION, Specification
from sandbox.tasks.template import filled_text

NUMBERS = st.integers(1, 999_999)
INPUT: TypeAdapter[Any] = TypeAdapter(dict[str, Input])
ORDER: dict[str, Any] = {
    "weight": 5000,
    "value": 9000,
    "items": 4,
    "distance": 300,
    "hour": 10,
    "weekday": 3,
    "zone": "harbour",
    "customer": "farm",
    "fragile": False,
    "insured": False,
    "code": "QM0417",
}


def function(of: Specification, *, leaving_out: bool = False) -> Callable[..., Any]:
    scope: dict[str, Any] = {}
    exec(source(of, leaving_out=leaving_out), scope)
    found: Callable[..., Any] = scope[FUNCTION]
    return found


def answer(charge: Callable[..., Any], order: dict[str, Any], *left_out: int) -> object:
    try:
        return charge(order, *left_out)
    except ValueError as error:
        return type(error)


def test_a_number_gives_the_same_page_everywhere() -> None:
    """If this fails, tasks that somebody keeps by their names have become other tasks."""
    told = page(drawn(20, 1))
    assert told == page(drawn(20, 1))
    assert told != page(drawn(20, 2))
    assert hashlib.sha256(told.encode()).hexdigest()[:16] == DIGEST


DIGEST = "b95bdbe8ff532e79"


@settings(max_examples=12, deadline=None)
@example(29, 6195)  # none of 25 orders tells one of its clauses, and two of the next 25 do
@given(st.integers(LEAST, MOST), NUMBERS)
def test_who_leaves_out_a_clause_fails_its_case(count: int, number: int) -> None:
    """By the orders of one grading, which calls each case apart and again at a shell."""
    specification = drawn(count, number)
    assert len(specification.clauses) == count
    charge, without = function(specification), function(specification, leaving_out=True)
    for clause in specification.clauses:
        place = specification.numbers[clause.key]
        order = INPUT.validate_json(json.dumps(specification.order(clause)))
        rounds = [Chance(f"{seed}-{place}") for seed in (number, at_a_shell(str(number)))]
        orders = [drawn_input(order, chance) for chance in rounds for _ in range(TIMES)]
        told = [answer(charge, each) for each in orders]
        assert told == [answer(without, each, 0) for each in orders]
        assert told != [answer(without, each, place) for each in orders], clause


@settings(max_examples=20, deadline=None)
@given(st.integers(LEAST, MOST), NUMBERS)
def test_what_a_clause_says_of_others_can_be_read_in_one_way(count: int, number: int) -> None:
    specification = drawn(count, number)
    for clause in specification.clauses:
        assert {specification.by_key[key].key for key in clause.refers()} == {*clause.refers()}
        if isinstance(clause, Amendment):
            changed = specification.by_key[clause.changed].says(specification.numbers)
            assert re.findall("[0-9]+", changed).count(str(clause.instead_of)) == 1
            assert clause.amount != clause.instead_of
    changing = [each for each in specification.clauses if isinstance(each, Changing | Both)]
    others = [key for each in changing for key in each.refers()]
    assert len(set(others)) == len(others)
    moved = [each for each in changing if isinstance(each, Later)]
    assert all(specification.numbers[x.after] > specification.numbers[x.changed] for x in moved)
    words = [each.word for each in specification.clauses if isinstance(each, Term)]
    assert len(set(words)) == len(words)


def test_the_page_has_each_clause_under_its_number() -> None:
    specification = drawn(MOST, 3)
    told = " ".join(page(specification).split())
    for clause in specification.clauses:
        assert f" {specification.numbers[clause.key]}. {clause.says(specification.numbers)}" in told
    assert any(isinstance(each, Exemption) for each in specification.clauses)


CONDITIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "heavier": ({"weight": 6001}, {"weight": 6000}),
    "lighter": ({"weight": 5999}, {"weight": 6000}),
    "valued": ({"value": 6000}, {"value": 5999}),
    "modest": ({"value": 6000}, {"value": 6001}),
    "many": ({"items": 6000}, {"items": 5999}),
    "grouped": ({"items": 12000}, {"items": 12001}),
    "far": ({"distance": 6001}, {"distance": 6000}),
    "near": ({"distance": 6000}, {"distance": 6001}),
    "evening": ({"hour": 6000}, {"hour": 5999}),
    "morning": ({"hour": 5999}, {"hour": 6000}),
    "weekend": ({"weekday": 6}, {"weekday": 5}),
    "workday": ({"weekday": 5}, {"weekday": 6}),
    "there": ({"zone": "island"}, {"zone": "harbour"}),
    "elsewhere": ({"zone": "harbour"}, {"zone": "coast"}),
    "sender": ({"customer": "clinic"}, {"customer": "farm"}),
    "breakable": ({"fragile": True}, {"fragile": False}),
    "uninsured": ({"insured": False}, {"insured": True}),
    "insurance": ({"insured": True}, {"insured": False}),
    "vowel": ({"code": "QA0417"}, {"code": "AQ0417"}),
    "repeated": ({"code": "QM0411"}, {"code": "QM1141"}),
    "dear": ({"cents": 6001}, {"cents": 6000}),
    "cheap": ({"cents": 5999}, {"cents": 6000}),
    "digits": ({"code": "QM9999"}, {"code": "QM0009"}),
}
"""Fields for which each holds and for which it does not, where its number is 6000 (of digits 9)."""

EFFECTS: dict[str, dict[str, object]] = {
    "charges": {
        "added": 1007,
        "for-items": 1000 + 7 * 2,
        "for-kilograms": 1000 + 7 * 6,
        "for-distance": 1000 + 7 * 150,
        "raised-down": 1000 + 70,
        "raised-up": 1000 + 70,
        "lowered": 1000 - 70,
        "of-value": 1000 + 64,
        "least": 1000,
        "most": 7,
        "multiple": 1001,
        "doubled": 1007,
        "waived": 993,
    },
    "delivery": {
        "longer": (10, "basic", ["A", "B"]),
        "at-least": (7, "basic", ["A", "B"]),
        "shorter": (2, "basic", ["A", "B"]),
        "for-distance": (3 + 43, "basic", ["A", "B"]),
        "marked": (3, "basic", ["A", "B", "C"]),
        "marked-first": (3, "basic", ["C", "A", "B"]),
        "turned": (3, "basic", ["B", "A"]),
        "unmarked": (3, "basic", ["B"]),
        "kind": (3, "swift", ["A", "B"]),
    },
}
"""What comes of 1000 cents, 3 days, the kind `basic` and the marks A and B, for 7, and 2 as k,
of an order with a weight of 5001, a value of 9001 and 301 kilometres."""


@pytest.mark.parametrize("name", kinds().conditions)
def test_a_condition_holds_as_it_is_worded(name: str) -> None:
    kind = kinds().conditions[name]
    values = {"n": 9 if name == "digits" else 6000, "zone": "coast", "otherzone": "island"}
    holds = filled_text(kind.holds, {**values, "customer": "clinic"})
    yes, no = CONDITIONS[name]
    assert eval(holds, {}, {**ORDER, **yes})
    assert not eval(holds, {}, {**ORDER, **no})
    if "n" in kind.values:
        assert "{n}" in kind.says


@pytest.mark.parametrize(
    ("group", "name"), [(group, name) for group, found in EFFECTS.items() for name in found]
)
def test_an_effect_does_as_it_is_worded(group: str, name: str) -> None:
    kind = getattr(kinds(), group)[name]
    effect = Effect(kind, {"n": 7, "k": 2, "mark": "C", "kind": "swift"})
    order = {**ORDER, "weight": 5001, "value": 9001, "distance": 301}
    scope: dict[str, Any] = {
        **order,
        "cents": 1000,
        "days": 3,
        "kind": "basic",
        "marks": ["A", "B"],
    }
    exec(effect.does(), scope)
    delivery = (scope["days"], scope["kind"], scope["marks"])
    if group == "charges":
        assert (scope["cents"], *delivery) == (EFFECTS[group][name], 3, "basic", ["A", "B"])
    else:
        assert (scope["cents"], delivery) == (1000, EFFECTS[group][name])


def test_all_kinds_of_parts_are_tried_here() -> None:
    assert kinds().conditions.keys() == CONDITIONS.keys()
    assert kinds().charges.keys() == EFFECTS["charges"].keys()
    assert kinds().delivery.keys() == EFFECTS["delivery"].keys()


def test_either_of_two_conditions_is_enough() -> None:
    one, other = Condition("it is a", "a", {"a": (1,)}), Condition("it is b", "b", {"b": (2,)})
    both = one | other
    assert both.says == "it is a, or where it is b"
    assert [bool(eval(both.holds, {}, {"a": a, "b": b})) for a in (0, 1) for b in (0, 1)] == [
        False,
        True,
        True,
        True,
    ]
