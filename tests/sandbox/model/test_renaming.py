"""Whole words are put in the place of others, and nothing is lost by it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sandbox.model.renaming import NewNames, Renaming
from sandbox.model.seed import Edit

WORDS = {"tzinfo": "bizim", "LazyDict": "GevogoxDict", "pytz": "zegezul", "_isdst": "_dezonel"}
BACK = {new: old for old, new in WORDS.items()}
PIECES = st.lists(
    st.sampled_from([*WORDS, "tz", "x", "2", "_", ".", "\n", " ", "/", "-", "é", "'", "\\n", "utc"])
)


@given(PIECES)
def test_what_is_renamed_leads_back(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert Renaming(BACK).text(Renaming(WORDS).text(text)) == text


@given(st.lists(PIECES.map("".join)))
def test_lines_are_renamed_for_themselves(lines: list[str]) -> None:
    plain = [line.replace("\n", "") for line in lines]
    renaming = Renaming(WORDS)
    assert renaming.text("\n".join(plain)) == "\n".join(map(renaming.text, plain))


def test_words_are_replaced_as_a_whole() -> None:
    renamed = Renaming(WORDS).text(
        "from pytz.tzinfo import LazyDict as _LazyDict, tzinfo2, a_tzinfo"
    )
    assert renamed == "from zegezul.bizim import GevogoxDict as _LazyDict, tzinfo2, a_tzinfo"
    assert Renaming(WORDS).text("pytz-tzinfo/test_tzinfo.py") == "zegezul-bizim/test_tzinfo.py"


def test_binary_files_and_licences_stay() -> None:
    renaming = Renaming(WORDS)
    assert renaming.data("pytz/zoneinfo/UTC", b"TZif\0pytz") == b"TZif\0pytz"
    for path in ("LICENSE.txt", "docs/COPYING", "AUTHORS", "licence.md"):
        assert renaming.data(path, b"pytz is free") == b"pytz is free"
    assert renaming.data("docs/licensing/why.md", b"pytz is free") == b"zegezul is free"
    assert renaming.data("setup.py", b"name='pytz' \xff") == b"name='zegezul' \xff"


def test_a_record_is_renamed_in_all_or_some_of_its_fields() -> None:
    edit = Edit(path="pytz/tzinfo.py", line=3, before="tzinfo\n", after="pytz\n")
    assert Renaming(WORDS).record(edit) == Edit(
        path="zegezul/bizim.py", line=3, before="bizim\n", after="zegezul\n"
    )
    some = Renaming(WORDS).record(edit, ("path",))
    assert (some.path, some.before) == ("zegezul/bizim.py", "tzinfo\n")


@pytest.mark.parametrize("words", [{"a": "c", "b": "c"}, {"a": "b", "b": "c"}, {}])
def test_names_that_do_not_lead_back_are_refused(words: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        NewNames(words=words)
