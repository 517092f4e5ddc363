"""Mistakes of published trajectory checks, each of which must not come back."""

from pydantic import JsonValue

from sandbox.model.atom import Atom, Predicate
from sandbox.model.event import Event
from sandbox.model.rule import AtMost, Derived, Precedes, Required, Responds, Rule
from sandbox.rules.monitors.trajectory import check
from tests.sandbox.rules.monitors.runs import run, step

Steps = list[tuple[str | None, Event]]


def holds(rule: Rule, *steps: Steps) -> bool:
    return not check([rule], run(*steps))


def test_a_required_call_counts_by_its_result() -> None:
    rule = Required(
        id="r",
        template="required",
        a=Atom(action="run_tests", status="ok", exit_code=0),
        reason="x",
        stated_in="prompt",
    )
    assert not holds(rule, step("1", "run_tests", result={"exit_code": 1}))
    assert holds(rule, step("1", "run_tests", result={"exit_code": 0}))


def test_a_required_call_counts_in_its_order() -> None:
    rule = Precedes(
        id="r",
        template="precedes",
        a=Atom(action="run_tests", exit_code=0),
        b=Atom(action="final_answer"),
        reason="x",
        stated_in="prompt",
    )
    tests, final = step("1", "run_tests", result={"exit_code": 0}), step("2", "final_answer")
    assert holds(rule, tests, final)
    assert not holds(rule, final, tests)


def test_an_argument_that_is_left_out_is_not_right() -> None:
    """`refund()` is not `refund(id=1)`."""
    where = {"arguments.id": Predicate(equals=1)}
    rule = Required(
        id="r", template="required", a=Atom(action="refund", where=where), reason="x",
        stated_in="prompt",
    )  # fmt: skip
    assert holds(rule, step("1", "refund", id=1))
    assert not holds(rule, step("1", "refund"))
    text = Required(
        id="r", template="required", a=Atom(action="refund", arguments={"id": ""}), reason="x",
        stated_in="prompt",
    )  # fmt: skip
    assert not holds(text, step("1", "refund"))


def test_a_derived_value_that_is_left_out_is_not_right() -> None:
    rule = Derived.model_validate(
        {
            "id": "d",
            "template": "derived",
            "x": "id",
            "from": Atom(action="find", bind={"id": "result.id"}),
            "in": Atom(action="refund", bind={"id": "arguments.id"}),
            "reason": "x",
            "stated_in": "prompt",
        }
    )
    found = step("1", "find", result={"id": 10001})
    assert holds(rule, found, step("2", "refund", id=10001))
    assert not holds(rule, found, step("2", "refund"))


def test_a_value_that_is_nearly_right_is_wrong() -> None:
    """Within 1 %, 10050 would pass for 10001."""
    for wrong in (10050, "10001", 10001.0, True):
        rule = Required(
            id="r",
            template="required",
            a=Atom(action="refund", where={"arguments.id": Predicate(equals=10001)}),
            reason="x",
            stated_in="prompt",
        )
        assert not holds(rule, step("1", "refund", id=wrong))


def another_way(name: str, code: int, argument: JsonValue) -> Steps:
    return step("2", name, result={"exit_code": code}, source=argument)


def test_a_change_of_strategy_has_to_work() -> None:
    """Another argument alone is no other way; another tool is one; and it has to succeed."""
    rule = Responds(
        id="s",
        template="responds",
        a=Atom(action="install", exit_code=1),
        b=Atom(action="install_offline", exit_code=0),
        reason="x",
        stated_in="prompt",
    )
    failed = step("1", "install", result={"exit_code": 1}, source="index")
    assert not holds(rule, failed, another_way("install", 1, "elsewhere"))
    assert not holds(rule, failed, another_way("install_offline", 1, "mirror"))
    assert holds(rule, failed, another_way("install_offline", 0, "mirror"))


def test_repeated_calls_are_counted() -> None:
    """Equality of sets drops them."""
    rule = AtMost(
        id="m",
        template="at_most",
        a=Atom(action="install", bind={"what": "arguments.source"}),
        n=2,
        reason="x",
        stated_in="prompt",
    )
    again = [step(str(i), "install", source="index") for i in range(3)]
    assert holds(rule, *again[:2], step("9", "install", source="mirror"))
    assert not holds(rule, *again)


def test_more_reading_than_needed_fails_nobody() -> None:
    rule = Required(
        id="r", template="required", a=Atom(reads="AGENTS.md"), reason="x", stated_in="prompt"
    )
    reads = [step(str(i), "read_file", path=path) for i, path in enumerate(("a", "AGENTS.md", "b"))]
    assert holds(rule, *reads)
