"""WEB-31: the sign of an ISO 8601 duration is that of the whole, both ways; the notes say so."""

import datetime
from pathlib import Path

import pytest

from django.utils.dateparse import parse_duration
from django.utils.duration import duration_iso_string

NOTES = Path(__file__).parents[2] / "docs" / "releases" / "5.2.10.txt"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("-P1DT1H", -90000),
        ("-P1D", -86400),
        ("-P0.5D", -43200),
        ("P1DT-1H", None),
        ("+P1DT1H", 90000),
    ],
)
def test_the_sign_is_that_of_the_whole(text, seconds):
    found = parse_duration(text)
    assert (found and found.total_seconds()) == seconds


@pytest.mark.parametrize("text", ["-1 day +0:00:01", "-1 00:00:01"])
def test_other_formats_have_a_sign_for_each_part(text):
    assert parse_duration(text).total_seconds() == -86399


@pytest.mark.parametrize("seconds", [-1, -86399, -86401, -90000, 0, 1, 90061])
def test_there_and_back(seconds):
    duration = datetime.timedelta(seconds=seconds)
    assert parse_duration(duration_iso_string(duration)) == duration


def test_the_notes_of_the_next_release_name_the_ticket():
    text = NOTES.read_text()
    assert "WEB-31" in text
    assert "Bugfixes\n========\n" in text
