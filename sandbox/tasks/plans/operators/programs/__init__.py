"""Programs that operators lay into a world: text like any other, in Perl, which every image has."""

from pathlib import Path


def program(name: str) -> str:
    """Return the text of a program of this folder."""
    return Path(__file__).with_name(name).read_text()
