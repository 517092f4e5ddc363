import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.grading.runners import wire

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
) | st.complex_numbers(allow_nan=False)
KEYS = st.booleans() | st.integers() | st.text() | st.binary() | st.tuples(st.integers())
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.sets(KEYS, max_size=4)
        | st.frozensets(KEYS, max_size=4)
    ),
    max_leaves=12,
)


def through(value: object) -> Any:  # noqa: ANN401
    return json.loads(json.dumps(wire.encode(value)))


def same(one: object, other: object) -> bool:
    return bool(wire.canonical(through(one)) == wire.canonical(through(other)))


@given(VALUES)
def test_a_value_survives_the_wire(value: object) -> None:
    back = wire.decode(through(value))
    assert type(back) is type(value)
    assert same(back, value)


@given(VALUES, VALUES)
def test_what_is_the_same_on_the_wire_is_equal_and_of_one_type(one: object, other: object) -> None:
    if same(one, other):
        assert type(one) is type(other)
        assert one == other or "nan" in repr(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (1, True),
        (0, False),
        (0.0, -0.0),
        (1.0, 1 + 0j),
        ("1", 1),
        ("a", b"a"),
        ([1], (1,)),
        ({1}, frozenset({1})),
        ({1}, [1]),
        ({1: 2}, {1.0: 2}),
        ({1: 2}, {1: 2.0}),
        ([1, 2], [2, 1]),
        (None, False),
        (float("inf"), float("-inf")),
        ("é", "e\u0301"),
        ("", None),
        ([], {}),
    ],
)
def test_what_python_calls_equal_or_alike_is_told_apart(one: object, other: object) -> None:
    assert not same(one, other)
    assert same(one, one)
    assert same(other, other)


def test_nan_is_nan_and_order_counts_only_where_there_is_one() -> None:
    assert same(math.nan, -math.nan)
    assert same({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert same({1, 2, 300}, {300, 2, 1})


class Text(str):
    __slots__ = ()


class Equal:
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        raise OSError


@pytest.mark.parametrize("value", [Text("a"), Equal(), object(), int, len, [Equal()], {Equal(): 1}])
def test_what_has_another_class_equals_nothing(value: object) -> None:
    assert not same(value, value)
    assert wire.show(through(value))


@pytest.mark.parametrize(
    "data",
    [
        1,
        1.5,
        {},
        {"int": 1},
        {"int": "zz"},
        {"float": None},
        {"int": "0x1", "float": "1.0"},
        {"what": 1},
        {"tuple": 3},
        {"set": [{"int": "0x1"}, {"int": "0x1"}]},
        {"dict": [["a"]]},
        {"dict": [["a", None], ["a", None]]},
        {"bytes": "x"},
        {"other": "a"},
    ],
)
def test_what_is_no_value_is_refused(data: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        wire.canonical(data)
    assert wire.show(data)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, 1.0), ((1, 2), [1.0, 2.0]), ({"a": (1,)}, {"a": [1.0]}), (True, True), (b"a", b"a")],
)
def test_javascript_has_one_kind_of_number_and_no_tuples(value: object, expected: object) -> None:
    assert wire.canonical(wire.in_javascript(wire.encode(value))) == wire.canonical(
        wire.encode(expected)
    )


def test_what_javascript_has_not_is_refused() -> None:
    with pytest.raises(ValueError, match="JavaScript has no"):
        wire.in_javascript(wire.encode({1}))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["int", "float", "bytes", "complex", "set", "dict", "other", "text"]),
            inner | st.sampled_from(["0x1p999999", "0x" + "f" * 5000, "zz"]),
            max_size=2,
        )
    ),
)


@given(JSON)
def test_whatever_is_answered_can_be_shown(answered: object) -> None:
    assert isinstance(wire.show(answered), str)


@pytest.mark.parametrize("depth", [100, 300, 480, 700, 960])
@pytest.mark.parametrize("kind", [None, "tuple", "int", "other"])
def test_what_is_nested_too_deep_is_shown_too(depth: int, kind: str | None) -> None:
    value: object = []
    for _ in range(depth):
        value = [value]
    answered = (
        value if kind is None else {kind: value} | ({"text": value} if kind == "other" else {})
    )
    assert isinstance(wire.show(answered), str)
