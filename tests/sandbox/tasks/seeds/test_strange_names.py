"""New names are the same each time, and what belongs together is called alike."""

import pytest

from sandbox.tasks.seeds import strange_names
from sandbox.tasks.seeds.strange_names import StrangeNames

STAY = frozenset(strange_names.choice().stay)


def names(repository: str = "python-slugify", taken: tuple[str, ...] = ()) -> StrangeNames:
    return StrangeNames(repository, frozenset(taken), STAY)


def test_they_are_the_same_each_time_and_others_elsewhere() -> None:
    assert names().of("smart_truncate") == names().of("smart_truncate") != "smart_truncate"
    assert names("boltons").of("smart_truncate") != names().of("smart_truncate")


def test_the_same_part_is_called_alike_and_cased_as_it_was() -> None:
    drawn = names()
    part = drawn.of("truncate")
    assert drawn.of("Truncate") == part.capitalize()
    assert drawn.of("_TRUNCATE") == f"_{part.upper()}"
    assert drawn.of("test_truncate").removeprefix("test_") == part
    assert drawn.of("TestTruncate") == f"Test{part.capitalize()}"
    assert drawn.of("truncate2").startswith(part)


@pytest.mark.parametrize("name", ["get_name", "tz", "test_is_in", "isError", "__x__"])
def test_what_is_made_of_words_that_stay_stays(name: str) -> None:
    assert names().of(name) == name


def test_the_projects_own_name_is_replaced_within_words() -> None:
    drawn = names()
    part = drawn.of("slugify")
    assert drawn.is_its_own("uniqueslugify")
    assert drawn.of("uniqueslugify") == f"unique{part}"
    assert drawn.of("PySlugifyError") == f"Py{part.capitalize()}Error"
    assert not drawn.is_its_own("python")
    assert drawn.of_repository().isalpha()


def test_no_word_is_one_that_means_something_there() -> None:
    first = names().of("truncate")
    assert names(taken=(first,)).of("truncate") not in (first, "truncate")
