"""LEX-8: the word has the plural that was said last, and the one before it is nowhere."""

from pathlib import Path

import pytest

import inflection
from inflection.house_terms import HOUSE_TERMS

ROOT = Path(inflection.__file__).parent.parent
SHIPPED = ("inflection/house_terms.py", "changes/LEX-8.md", "test_lex_8.py")


def test_the_table_has_the_word_and_is_sorted():
    assert HOUSE_TERMS == {
        "dorrick": "dorricken",
        "kubbel": "kubbla",
        "vosk": "voskar",
        "zimmet": "zimmeroth",
    }
    assert list(HOUSE_TERMS) == sorted(HOUSE_TERMS)


def test_the_note_is_one_line():
    note = (ROOT / "changes" / "LEX-8.md").read_text()
    assert note.strip() == "zimmet: zimmeroth"


@pytest.mark.parametrize("path", SHIPPED)
def test_what_was_taken_back_is_gone(path):
    text = (ROOT / path).read_text()
    assert "zimmetta" not in text.lower()
    assert "zimmeroth" in text.lower()


@pytest.mark.parametrize(("single", "plural"), [("zimmet", "zimmeroth"), ("Vosk", "Voskar")])
def test_both_ways(single, plural):
    assert inflection.pluralize(single) == plural
    assert inflection.singularize(plural) == single
