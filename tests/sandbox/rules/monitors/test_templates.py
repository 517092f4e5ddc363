"""The eight templates: what each says, by itself and for each value of a variable."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from sandbox.model.event import Entry
from sandbox.model.rule import Rule
from sandbox.rules.monitors.base import VALUES, Breach
from sandbox.rules.monitors.steps import Step
from sandbox.rules.monitors.templates import BROKEN
from sandbox.rules.monitors.trajectory import check, monitor
from tests.sandbox.rules.monitors.runs import run, step

RULES: TypeAdapter[Rule] = TypeAdapter(Rule)

Names = list[str]


def rule(template: str, **fields: object) -> Rule:
    about: dict[str, object] = {
        "id": "x",
        "reason": "Because.",
        "stated_in": "prompt",
        "template": template,
    }
    return RULES.validate_python({**about, **fields})


def action(name: str) -> dict[str, Any]:
    return {"action": name}


def over(one: Rule, names: Names) -> list[Breach]:
    return check([one], run(*(step(str(i), name) for i, name in enumerate(names))))


def before(names: Names, place: int, name: str) -> bool:
    return name in names[:place]


def at(names: Names, name: str) -> list[int]:
    return [place for place, each in enumerate(names) if each == name]


def last(names: Names, place: int, name: str) -> int:
    return max((i for i in at(names, name) if i < place), default=-1)


SAID: list[tuple[Rule, Callable[[Names], bool]]] = [
    (rule("required", a=action("a")), lambda n: "a" in n),
    (rule("never", a=action("a")), lambda n: "a" not in n),
    (
        rule("never_after", a=action("a"), b=action("b")),
        lambda n: all(not before(n, i, "a") for i in at(n, "b")),
    ),
    (
        rule("precedes", a=action("a"), b=action("b")),
        lambda n: all(before(n, i, "a") for i in at(n, "b")),
    ),
    (
        rule("fresh", a=action("a"), since=action("c"), before=action("b")),
        lambda n: all(before(n, i, "a") and last(n, i, "a") > last(n, i, "c") for i in at(n, "b")),
    ),
    (
        rule("responds", a=action("a"), b=action("b")),
        lambda n: all("b" in n[i + 1 :] for i in at(n, "a")),
    ),
    (rule("at_most", a=action("a"), n=2), lambda n: n.count("a") <= 2),
]
NAMES = st.lists(st.sampled_from("abcd"), max_size=12)


@given(NAMES)
def test_each_template_is_what_it_says(names: Names) -> None:
    for one, holds in SAID:
        assert (not over(one, names)) is holds(names), one.template


@given(NAMES, NAMES)
def test_what_is_broken_stays_broken(names: Names, more: Names) -> None:
    for one, _ in SAID:
        watching = monitor(one)
        spoken = [watching.feed(Step(i, name, {})) for i, name in enumerate(names)]
        if watching.state == BROKEN:
            assert len([each for each in spoken if each]) == 1
            for name in more:
                assert watching.feed(Step(0, name, {})) is None
            assert watching.state == BROKEN
            assert watching.finish() is None


@given(NAMES, NAMES)
def test_a_state_can_be_kept_and_set_again(names: Names, more: Names) -> None:
    for one in [*(one for one, _ in SAID), PAIRED]:
        watching, other = monitor(one), monitor(one)
        for i, name in enumerate(names):
            watching.feed(Step(i, name, {"path": name}))
        kept = other.state = watching.state
        hash(kept)
        for i, name in enumerate(more):
            each = Step(i, name, {"path": name})
            one_breach, other_breach = watching.feed(each), other.feed(each)
            assert (one_breach and one_breach.event) == (other_breach and other_breach.event)
            assert watching.state == other.state
        watching.state = kept
        assert watching.state == kept


# Variables


def on(name: str, variable: str = "path") -> dict[str, Any]:
    return {"action": name, "bind": {variable: "arguments.path"}}


PAIRED = rule("precedes", a=on("a"), b=on("b"))
CALLS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), max_size=12)


def called(*calls: tuple[str, str]) -> tuple[Entry, ...]:
    return run(*(step(str(i), name, path=path) for i, (name, path) in enumerate(calls)))


def bound(variable: str = "path") -> list[Rule]:
    a, b, c = (on(name, variable) for name in "abc")
    used = {"action": "c", "arguments": {"path": f"^{{{variable}}}$"}}
    return [
        rule("precedes", a=a, b=b),
        rule("never_after", a=a, b=b),
        rule("responds", a=a, b=b),
        rule("fresh", a=a, since=c, before=b),
        rule("fresh", a=a, since=action("c"), before=b),
        rule("fresh", a=a, since=used, before=b),
        rule("responds", a=a, b=used),
        rule("at_most", a=a, n=1),
        rule("derived", x=variable, **{"from": a, "in": b}),
    ]


@pytest.mark.slow
@given(CALLS)
def test_a_rule_with_a_variable_holds_for_each_value_by_itself(
    calls: list[tuple[str, str]],
) -> None:
    by_name = [bound()[place] for place in (0, 1, 2, 3, 7)]
    for one in by_name:
        plain = one.model_dump(exclude_unset=True)
        for name, value in plain.items():
            if isinstance(value, dict):
                plain[name] = {"action": value["action"]}
        single = RULES.validate_python(plain)
        apart = [check([single], called(*(c for c in calls if c[1] == path))) for path in "xyz"]
        assert bool(check([one], called(*calls))) is any(apart), one


@given(CALLS)
def test_a_variable_may_have_any_name(calls: list[tuple[str, str]]) -> None:
    trace = called(*calls)
    for one, other in zip(bound(), bound("another_name"), strict=True):
        first, second = check([one], trace), check([other], trace)
        assert [each.event for each in first] == [each.event for each in second]


@given(CALLS)
def test_a_value_that_is_used_is_the_value_that_was_bound(calls: list[tuple[str, str]]) -> None:
    owed: set[str] = set()
    for name, path in calls:
        if name == "a":
            owed.add(path)
        elif name == "c":
            owed.discard(path)
    assert bool(check([bound()[6]], called(*calls))) is bool(owed)
    by_use, by_name = check([bound()[5]], called(*calls)), check([bound()[3]], called(*calls))
    assert [each.event for each in by_use] == [each.event for each in by_name]


def test_a_step_without_a_value_touches_every_value_seen_or_not() -> None:
    one = bound()[4]
    assert check([one], called(("a", "x"), ("b", "x"))) == []
    (broken,) = check([one], called(("a", "x"), ("a", "y"), ("c", "z"), ("a", "y"), ("b", "x")))
    assert broken.event == 8
    assert "on x (event 8) for path = 'x'; before that" in broken.message


def test_a_value_is_never_read_as_a_pattern() -> None:
    one = rule(
        "responds",
        a=on("a"),
        b={"action": "b", "arguments": {"path": "^{path}$"}},
    )
    assert check([one], called(("a", ".*"), ("b", "xyz")))
    assert not check([one], called(("a", ".*"), ("b", ".*")))


def test_several_variables_go_together() -> None:
    both = {"path": "arguments.path", "mode": "arguments.mode"}
    one = rule("precedes", a={"action": "a", "bind": both}, b={"action": "b", "bind": both})
    steps = [step("1", "a", path="x", mode="r"), step("2", "b", path="x", mode="r")]
    assert check([one], run(*steps)) == []
    (broken,) = check([one], run(*steps, step("3", "b", path="x", mode="w")))
    assert "for mode = 'w', path = 'x'" in broken.message


def test_more_values_than_can_be_followed_are_no_pass() -> None:
    one = rule("responds", a=on("a"), b=on("b"))
    many = [("a", str(i)) for i in range(VALUES + 1)]
    (broken,) = check([one], called(*many))
    assert f"more than {VALUES} values" in broken.message
    answered = [call for i in range(2 * VALUES) for call in (("a", str(i)), ("b", str(i)))]
    assert check([one], called(*answered)) == []


COUNTED = rule(
    "derived",
    x="count",
    **{
        "from": {"action": "run_tests", "bind": {"count": r"result.stdout /(\d+) failed/"}},
        "in": {"action": "final_answer", "bind": {"count": "arguments.fields.failing"}},
    },
)


@pytest.mark.parametrize(
    ("fields", "holds"),
    [
        ({"failing": 51}, True),
        ({"failing": "51"}, True),
        ({"failing": 5}, False),
        ({"failing": 51.0}, False),
        ({}, False),
        ({"other": 51}, False),
    ],
)
def test_a_derived_value_comes_from_what_was_seen(fields: dict[str, Any], holds: bool) -> None:
    trace = run(
        step("1", "run_tests", result={"stdout": "51 failed, 18 passed"}),
        step("2", "final_answer", fields=fields),
    )
    assert (not check([COUNTED], trace)) is holds


def test_what_comes_afterwards_gives_no_value() -> None:
    trace = run(
        step("2", "final_answer", fields={"failing": 51}),
        step("1", "run_tests", result={"stdout": "51 failed, 18 passed"}),
    )
    (broken,) = check([COUNTED], trace)
    assert broken.event == 0


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"template": "required", "a": on("a")}, "no variables"),
        ({"template": "precedes", "a": on("a"), "b": on("b", "other")}, "binds all variables"),
        ({"template": "at_most", "a": action("a"), "n": 0}, "greater than or equal to 1"),
        (
            {"template": "at_most", "n": 1, "tells": "looks", "a": {"bind": {"x": "arguments.x"}}},
            "has one number",
        ),
        ({"template": "derived", "x": "y", "from": on("a"), "in": on("b")}, "must bind y"),
        (
            {"template": "never", "a": {"arguments": {"path": "("}}},
            "not a valid regular expression",
        ),
        ({"template": "never", "a": {"bind": {"x": "path"}}}, "not a valid source"),
        ({"template": "never", "a": {"where": {"path": {"equals": 1}}}}, "not a valid source"),
        ({"template": "never", "a": {"where": {"result.x": {}}}}, "says nothing"),
        ({"template": "never", "a": {"changes": "a//b"}}, "names must not be empty"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        rule(**fields)


@given(CALLS, st.lists(st.integers(0, 8), max_size=4))
def test_rules_together_are_their_conjunction(
    calls: list[tuple[str, str]], places: list[int]
) -> None:
    trace, chosen = called(*calls), [bound()[place] for place in places]
    together = check(chosen, trace)
    apart = [each for one in chosen for each in check([one], trace)]
    assert sorted(each.message for each in together) == sorted(each.message for each in apart)
