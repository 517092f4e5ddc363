import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from sandbox.grading.draws import Chance, drawn, possible
from sandbox.model.draw import DrawInteger, Input

READ: TypeAdapter[Input] = TypeAdapter(Input)


def draw(value: object, seed: int = 0) -> object:
    return drawn(READ.validate_python(value, strict=False), Chance(str(seed)))


@given(st.integers(), st.integers(), st.sampled_from(["even", "magnitude"]), st.integers())
def test_integers_stay_in_their_range(one: int, other: int, spread: str, seed: int) -> None:
    low, high = sorted((one, other))
    about = {"draw": "integer", "minimum": low, "maximum": high, "spread": spread}
    number = draw(about, seed)
    assert isinstance(number, int)
    assert low <= number <= high
    assert draw(about, seed) == number


def test_magnitudes_reach_every_number_of_digits_and_both_signs() -> None:
    about = {"draw": "integer", "minimum": -(10**9), "maximum": 10**9, "spread": "magnitude"}
    numbers = [draw(about, seed) for seed in range(300)]
    assert {len(str(abs(int(str(number))))) for number in numbers} >= set(range(1, 10))
    assert any(int(str(number)) < 0 for number in numbers)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([1, 1.0, True, None, "a", {"b": [2]}], [1, 1.0, True, None, "a", {"b": [2]}]),
        ({"draw": "tuple", "of": [1, {"draw": "tuple", "of": []}]}, (1, ())),
        ({"draw": "text", "of": -3}, "-3"),
        ({"draw": "constant", "of": "-infinity"}, float("-inf")),
        ({"draw": "constant", "of": "1" * 30}, int("1" * 30)),
        ({"draw": "choice", "of": [{"draw": "choice", "of": ["only"]}]}, "only"),
        ({"draw": "string", "alphabet": "x", "minimum": 3, "maximum": 3}, "xxx"),
        ({"draw": "list", "of": 1, "minimum": 2, "maximum": 2}, [1, 1]),
        (
            {"draw": "dictionary", "keys": "k", "values": 1, "minimum": 2, "maximum": 2},
            {"k": 1},
        ),
    ],
)
def test_values_are_what_is_written(value: object, expected: object) -> None:
    found = draw(value)
    assert (type(found), found) == (type(expected), expected)


@pytest.mark.parametrize("seed", range(5))
def test_floats_booleans_and_lengths_vary_within_bounds(seed: int) -> None:
    number = draw({"draw": "float", "minimum": 1.0, "maximum": 2.0}, seed)
    assert isinstance(number, float)
    assert 1 <= number <= 2
    assert isinstance(draw({"draw": "boolean"}, seed), bool)
    assert len(str(draw({"draw": "string", "maximum": 4}, seed))) <= 4


@pytest.mark.parametrize(
    "value",
    [
        {"draw": "integer", "minimum": 2, "maximum": 1},
        {"draw": "integer", "minimum": "x", "maximum": 1},
        {"draw": "integr"},
        {"draw": "string", "alphabet": ""},
        {"draw": "choice", "of": []},
        {"draw": "list", "of": 1, "least": 2},
    ],
)
def test_what_cannot_be_drawn_is_refused(value: object) -> None:
    with pytest.raises(ValidationError):
        draw(value)


def test_a_draw_is_itself_again_when_it_is_read_back() -> None:
    one = DrawInteger(draw="integer", minimum=-(10**30), maximum=3)
    assert READ.validate_json(READ.dump_json(one)) == one


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (5, 1),
        ({"draw": "integer", "minimum": -2, "maximum": 2}, 5),
        ([{"draw": "boolean"}, {"draw": "boolean"}, 3], 4),
        ({"draw": "choice", "of": [1, {"draw": "boolean"}]}, 3),
        ({"draw": "string", "alphabet": "ab", "minimum": 1, "maximum": 3}, 14),
        ({"draw": "list", "of": {"draw": "boolean"}, "minimum": 0, "maximum": 2}, 7),
        ({"draw": "joined", "of": ["-", {"draw": "boolean"}, {"draw": "boolean"}]}, 4),
        ({"draw": "text", "of": {"draw": "boolean"}}, 2),
        ({"draw": "tuple", "of": [{"draw": "boolean"}, 1]}, 2),
        ({"draw": "constant", "of": "nan"}, 1),
        ({"a": {"draw": "boolean"}, "b": {"draw": "boolean"}}, 4),
    ],
)
def test_the_inputs_that_are_possible_are_counted(value: object, count: int) -> None:
    assert possible(READ.validate_python(value, strict=False)) == count


def test_parts_that_are_drawn_are_joined_into_one_text() -> None:
    value = {"draw": "joined", "of": ["-P", {"draw": "integer", "minimum": 7, "maximum": 7}, "D"]}
    assert draw(value) == "-P7D"


@given(st.integers(1, 9), st.integers(0, 30), st.integers())
def test_what_can_be_chosen_comes_in_rounds(many: int, times: int, seed: int) -> None:
    value = READ.validate_python({"draw": "choice", "of": list(range(many))}, strict=False)
    chance = Chance(str(seed))
    came = [drawn(value, chance) for _ in range(times)]
    for start in range(0, times, many):
        one_round = came[start : start + many]
        assert len(set(one_round)) == len(one_round)


def test_two_choices_of_the_same_values_are_dealt_apart() -> None:
    same = {"draw": "choice", "of": [0, 1, 2]}
    value = READ.validate_python({"draw": "tuple", "of": [same, same]}, strict=False)
    chance = Chance("0")
    pairs = {drawn(value, chance) for _ in range(300)}
    assert len(pairs) == 9
