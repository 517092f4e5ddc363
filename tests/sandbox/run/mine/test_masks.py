"""Places that hide each other are put together, and no others."""

from hypothesis import given
from hypothesis import strategies as st

from sandbox.run.mine.draw import FILES
from sandbox.run.mine.masks import Masks, Noticed
from sandbox.tasks.seeds.mutations import Change, Mutation


def noticed(number: int, tests: str, function: str = "", path: str = "a.py") -> Noticed:
    change = Change(10 * number, 10 * number + 5, "x")
    return Noticed(Mutation("condition", path, function, (change,)), frozenset(tests))


PLACES = st.lists(
    st.tuples(
        st.text("pqrst", min_size=1),
        st.sampled_from("fgh"),
        st.sampled_from(["a.py", "b.py", "c.py", "d.py"]),
    ),
    max_size=9,
)


@given(found=PLACES, places=st.integers(2, 4))
def test_each_failing_test_of_a_set_has_two_causes(
    found: list[tuple[str, str, str]], places: int
) -> None:
    masks = Masks(places)
    tests = {}
    for number, (failing, function, path) in enumerate(found):
        one = noticed(number, failing, function, path)
        tests[one.mutation] = one.tests
        for defect in masks.take(one):
            assert len(set(defect)) == places
            assert one.mutation in defect
            for place in defect:
                others = [tests[other] for other in defect if other is not place]
                assert tests[place] <= frozenset().union(*others)
            assert len({place.path for place in defect}) <= FILES
            assert len({(place.path, place.function) for place in defect}) > 1


def sets(*found: Noticed, places: int = 2) -> list[set[int]]:
    masks = Masks(places)
    made = [defect for one in found for defect in masks.take(one)]
    return [{place.changes[0].start // 10 for place in defect} for defect in made]


def test_a_caller_and_what_it_calls_hide_each_other() -> None:
    assert sets(noticed(1, "pq", "f"), noticed(2, "pq", "g")) == [{1, 2}]
    assert sets(noticed(1, "pq", "f"), noticed(2, "p", "g")) == []
    three = noticed(1, "pq", "f"), noticed(2, "p", "g"), noticed(3, "q", "h")
    assert sets(*three, places=3) == [{1, 2, 3}]


def test_one_function_is_not_enough_and_nothing_is_changed_twice() -> None:
    assert sets(noticed(1, "p", "f"), noticed(2, "p", "f")) == []
    both = noticed(1, "p", "f"), noticed(2, "p", "f"), noticed(3, "p", "g")
    assert sets(*both, places=3) == [{1, 2, 3}]
    assert sets(noticed(1, "p", "f"), noticed(1, "p", "g")) == []


def test_sets_over_several_files_come_first() -> None:
    near, far = noticed(1, "p", "f"), noticed(2, "p", "g", "b.py")
    assert sets(near, far, noticed(3, "p", "h"))[1:] == [{2, 3}, {1, 3}]


def test_each_place_is_kept_in_one_seed() -> None:
    masks = Masks(2)
    assert not list(masks.take(noticed(1, "p", "f")))
    (defect,) = masks.take(noticed(2, "p", "g"))
    masks.used(defect)
    assert not list(masks.take(noticed(3, "p", "h")))
