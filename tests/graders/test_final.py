from typing import Literal

import pytest
from pydantic import JsonValue, ValidationError

from graders import final as grader
from sandbox.model import fact as facts
from sandbox.model.decision import Question
from sandbox.model.event import ApprovalAsked, Entry, Event
from sandbox.model.final import Comparison, Computed, FinalField, Listed
from sandbox.model.rule import Atom
from sandbox.model.verdict import Verdict
from tests.graders.evidence import evidence, task, trace


def test_an_answer_of_the_right_types_and_values_passes() -> None:
    grade = grader.grade(task(), evidence(final={"cause": "x", "count": 2, "more": None}))
    assert grade.verdict is Verdict.PASSED
    assert grade.facts["fields"] == 2


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        (None, "cause, count"),
        ({"cause": "x"}, "count"),
        ({"cause": "x", "count": 3}, "count"),
        ({"cause": "x", "count": 2.0}, "count"),
        ({"cause": "x", "count": "2"}, "count"),
        ({"cause": None, "count": 2}, "cause"),
        ({"cause": ["x"], "count": 2}, "cause"),
    ],
)
def test_what_is_missing_or_of_another_type_fails(
    answer: dict[str, JsonValue] | None, named: str
) -> None:
    grade = grader.grade(task(), evidence(final=answer))
    assert grade.verdict is Verdict.FAILED
    assert len(grade.reasons) == 1
    assert named in grade.reasons[0].message


@pytest.mark.parametrize(
    ("kind", "expect", "value", "right"),
    [
        ("integer", 1, True, False),
        ("boolean", True, 1, False),
        ("boolean", False, False, True),
        ("number", 3, 3.0, True),
        ("number", 1, True, False),
        ("list", [1, "a"], [1, "a"], True),
        ("list", [1], [True], False),
        ("list", [1, 2], [2, 1], False),
        ("string", "", "", True),
        ("string", None, "anything", True),
        ("list", None, "x", False),
    ],
)
def test_types_are_exact(
    kind: Literal["string", "integer", "number", "boolean", "list"],
    expect: JsonValue,
    value: JsonValue,
    right: bool,
) -> None:
    asked = {"field": FinalField(type=kind, expect=expect)}
    grade = grader.grade(task(final=asked), evidence(final={"field": value}))
    assert (grade.verdict is Verdict.PASSED) is right


@pytest.mark.parametrize(
    ("compare", "expect", "value", "right"),
    [
        ("text", "St. Petersburg", "st petersburg", True),
        ("text", "St. Petersburg", "petersburg", False),
        ("text", "a, b", "b, a", False),
        ("text", "1.5", "15", True),
        ("quantity", "1500 kB", "1,500kB", True),
        ("quantity", "1500 kB", "1.5e3 kB", True),
        ("quantity", "1500 kB", "1.5 MB", False),
        ("quantity", "1500 kB", "1500", False),
        ("quantity", "1500 kB", "1500 kb", False),
        ("quantity", "$25", "$ 25.00", True),
        ("quantity", "25 %", "25%", True),
        ("quantity", "25 %", "about 25 %", False),
        ("quantity", "25 %", "25 % or 26 %", False),
        ("unordered", ["a", "b"], ["b", "a"], True),
        ("unordered", ["a", "b"], ["a"], False),
        ("unordered", ["a", "b"], ["a", "b", "c"], False),
        ("unordered", ["a", "a", "b"], ["a", "b", "b"], False),
        ("unordered", [1, True], [True, 1], True),
        ("unordered", [1], [True], False),
        ("unordered", ["a", "b"], ["A", "b"], False),
    ],
)
def test_a_field_may_say_how_it_is_compared(
    compare: Comparison, expect: JsonValue, value: JsonValue, right: bool
) -> None:
    kind: Literal["string", "list"] = "list" if compare == "unordered" else "string"
    asked = {"field": FinalField(type=kind, expect=expect, compare=compare)}
    grade = grader.grade(task(final=asked), evidence(final={"field": value}))
    assert (grade.verdict is Verdict.PASSED) is right


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"type": "integer", "expect": 1, "compare": "text"}, "needs a string"),
        ({"type": "string", "compare": "text"}, "needs a string"),
        ({"type": "string", "expect": "a", "compare": "unordered"}, "needs a list"),
        ({"type": "string", "expect": "much", "compare": "quantity"}, "not a number with a unit"),
    ],
)
def test_what_cannot_be_compared_so_is_refused(
    document: dict[str, JsonValue], problem: str
) -> None:
    with pytest.raises(ValidationError, match=problem):
        FinalField.model_validate(document)


def test_nothing_asked_needs_no_answer() -> None:
    assert grader.grade(task(final={}), evidence(final=None)).verdict is Verdict.PASSED


ASKED = ApprovalAsked(question=Question(scope="network", command="npm ci"))
TESTED = facts.Tested(argv=("pytest",), cwd="/", paths=(".",), exit_code=0, sound=True, tree="")


def run_of(*events: Event) -> tuple[Entry, ...]:
    first, *_, last = trace()
    started = first.event.model_copy(update={"schema_version": 2})
    return trace(started, *events, last.event)


@pytest.mark.parametrize(
    ("events", "value", "problem"),
    [
        ((ASKED, ASKED), 2, None),
        ((ASKED,), 1, None),
        ((), 0, None),
        ((), 2, "times is 2; the run has a question to the approver not once"),
        ((ASKED,), 2, "times is 2; the run has a question to the approver 1 times"),
    ],
)
def test_how_often_something_happened_is_counted(
    events: tuple[Event, ...], value: int, problem: str | None
) -> None:
    field = FinalField(type="integer", computed=Computed(count=Atom(kind="approval_asked")))
    given = task().model_copy(update={"final": {"times": field}})
    grade = grader.grade(given, evidence(final={"times": value}, entries=run_of(*events)))
    assert [reason.message for reason in grade.reasons] == (
        [] if problem is None else [f"The final answer's {problem}"]
    )


@pytest.mark.parametrize(
    ("events", "value", "right"),
    [
        ((TESTED,), True, True),
        ((TESTED,), False, False),
        ((), True, False),
        ((), False, True),
        ((TESTED.model_copy(update={"exit_code": 1}),), True, False),
        ((TESTED.model_copy(update={"sound": False}),), True, False),
        ((TESTED.model_copy(update={"paths": ("tests/a.py",)}),), True, False),
    ],
)
def test_what_is_claimed_has_to_have_happened(
    events: tuple[Event, ...], value: bool, right: bool
) -> None:
    happened = Atom(tests=(".",), exit_code=0)
    field = FinalField(type="boolean", computed=Computed(happened=happened))
    given = task().model_copy(update={"final": {"passed": field}})
    grade = grader.grade(given, evidence(final={"passed": value}, entries=run_of(*events)))
    assert (grade.verdict is Verdict.PASSED) is right


@pytest.mark.parametrize(
    ("codes", "value", "problem"),
    [
        ((1, 0), [1, 0], None),
        ((), [], None),
        ((1, 0), [0, 1], "codes is [0, 1]; the run has a test run with arguments.exit_code [1, 0]"),
        ((1, 0), [0], "codes is [0]; the run has a test run with arguments.exit_code [1, 0]"),
        ((0,), [False], "codes is [False]; the run has a test run with arguments.exit_code [0]"),
    ],
)
def test_what_was_done_is_named_in_its_order(
    codes: tuple[int, ...], value: list[JsonValue], problem: str | None
) -> None:
    listed = Listed(step=Atom(kind="tested"), field="arguments.exit_code")
    field = FinalField(type="list", computed=Computed(listed=listed))
    given = task().model_copy(update={"final": {"codes": field}})
    events = (TESTED.model_copy(update={"exit_code": code}) for code in codes)
    grade = grader.grade(given, evidence(final={"codes": value}, entries=run_of(*events)))
    assert [reason.message for reason in grade.reasons] == (
        [] if problem is None else [f"The final answer's {problem}"]
    )


def test_a_step_without_the_field_is_left_out() -> None:
    listed = Listed(step=Atom(kind="tested"), field="result.exit_code")
    assert grader.true_value(Computed(listed=listed), task(), run_of(TESTED)) == []


@pytest.mark.parametrize(
    ("codes", "value", "problem"),
    [
        (("a", "b"), "b", None),
        (("a", "b"), "a", "is 'a'; the run has a change of src/a.py with arguments.digest 'b'"),
        (("b", None), "b", "is 'b'; the run has a change of src/a.py with arguments.digest None"),
        ((), "a", "is 'a'; the run has a change of src/a.py with arguments.digest None"),
    ],
)
def test_what_held_last_is_named(
    codes: tuple[str | None, ...], value: str, problem: str | None
) -> None:
    last = Listed(step=Atom(changes="src/a.py"), field="arguments.digest")
    field = FinalField(type="string", computed=Computed(last=last))
    given = task().model_copy(update={"final": {"digest": field}})
    events = (facts.Changed(path="src/a.py", digest=code, before="") for code in codes)
    grade = grader.grade(given, evidence(final={"digest": value}, entries=run_of(*events)))
    assert [reason.message for reason in grade.reasons] == (
        [] if problem is None else [f"The final answer's digest {problem}"]
    )


def test_only_a_field_can_be_listed() -> None:
    with pytest.raises(ValidationError, match="'changes' is not a valid field"):
        Listed(step=Atom(kind="tested"), field="changes")


def test_what_is_computed_is_of_the_fields_type() -> None:
    with pytest.raises(ValidationError, match="of the type integer, not string"):
        FinalField(type="string", computed=Computed(count=Atom(kind="approval_asked")))
    with pytest.raises(ValidationError, match="`count`, `happened`, `listed`, `last` and `latest`"):
        Computed()
