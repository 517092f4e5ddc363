"""TRM-31: the house terms of the edition in force, and words that change their first letter."""

import pytest

import inflection
from inflection.house_terms import HOUSE_TERMS

TERMS = {
    "ashlet": "ashlim",
    "dorrick": "dorricken",
    "gossum": "gossa",
    "kubbel": "kubbla",
    "pallow": "pallowim",
    "quern": "querni",
    "tarnis": "tarnei",
    "uvrin": "avrini",
    "vosk": "voskar",
    "ylm": "olmar",
}


def test_the_table_is_the_edition_in_force():
    assert HOUSE_TERMS == TERMS


def test_the_table_is_sorted():
    assert list(HOUSE_TERMS) == sorted(HOUSE_TERMS)


@pytest.mark.parametrize("word", ["kine", "olmar", "avrini"])
def test_a_changed_first_letter_keeps_its_case(word):
    single = inflection.singularize(word)
    assert single == single.lower()
    assert inflection.singularize(word.capitalize()) == single.capitalize()


@pytest.mark.parametrize(("plural", "single"), [("boxes", "box"), ("people", "person")])
def test_other_words_are_as_before(plural, single):
    assert inflection.singularize(plural) == single
    assert inflection.pluralize(single) == plural
