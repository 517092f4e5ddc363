"""Scripts get other values that look like their own, and nothing else in them changes."""

import ast
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.grading import script_values

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12)
    | st.binary(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=6,
)
SCRIPTS = st.lists(
    st.lists(VALUES, max_size=3).map(lambda each: f"a.b:call({', '.join(map(repr, each))})"),
    min_size=1,
    max_size=4,
)


def constants(line: str) -> list[object]:
    tree = ast.parse(line.partition(":")[2], mode="eval")
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]


def is_alike(value: object, other: object) -> bool:
    """Whether two values differ in digits and letters alone, or one has more of them."""
    if isinstance(value, bytes) and isinstance(other, bytes):
        return is_alike(value.decode("latin-1"), other.decode("latin-1"))
    if not isinstance(value, str) or not isinstance(other, str):
        numbers = isinstance(value, int | float) and not isinstance(value, bool)
        return numbers or value == other
    if len(other) == len(value):
        pairs = zip(value, other, strict=True)
        return all(one == two or kind(one) == kind(two) != "" for one, two in pairs)
    return len(other) - len(value) <= 3 and (other.startswith(value) or other.endswith(value))


def kind(each: str) -> str:
    if not each.isascii():
        return ""
    return "0" * each.isdigit() or "a" * each.islower() or "A" * each.isupper()


@given(SCRIPTS, st.integers())
def test_what_a_script_looks_like_stays(lines: list[str], seed: int) -> None:
    others = script_values.varied(lines, random.Random(seed))
    assert [line.partition(":")[0] for line in others] == ["a.b"] * len(lines)
    for line, other in zip(lines, others, strict=True):
        pairs = list(zip(constants(line), constants(other), strict=True))
        assert [type(one) for one, _ in pairs] == [type(two) for _, two in pairs]
        assert [pair for pair in pairs if not is_alike(*pair)] == []


@given(SCRIPTS, st.integers())
def test_something_changes_where_something_can(lines: list[str], seed: int) -> None:
    others = script_values.varied(lines, random.Random(seed))
    before = [constants(line) for line in lines]
    assert (before != [constants(line) for line in others]) is (script_values.possible(lines) > 1)


def test_what_is_one_value_in_all_lines_stays_one() -> None:
    lines = ["cache:Cache(8)", "_0.put('key', 512)", "_0.get('key')"]
    seen = set()
    for seed in range(40):
        others = script_values.varied(lines, random.Random(seed))
        key = constants(f":{others[1]}")[0]
        assert others[2] == f"_0.get({key!r})"
        seen.add(key)
    assert len(seen) > 5


@pytest.mark.parametrize(
    ("lines", "possible"),
    [
        (["a:f()"], 1),
        (["a:f(True, None)"], 1),
        (["a:f(-7)"], 10),
        (["a:f('a1', 'a1')"], 260),
        (["a:f('x')", "_0.g('x', 'yZ')"], 26**3),
        (["a:f(1e-05)"], 1000),
        (["a:f('" + "a" * 100 + "')"], script_values.MANY),
    ],
)
def test_it_is_known_how_many_scripts_one_can_become(lines: list[str], possible: int) -> None:
    assert script_values.possible(lines) == possible
