"""What became of a foreign task that was to be imported."""

from typing import Literal

from sandbox.model.base import Record

Outcome = Literal["imported", "refused", "there already"]


class Imported(Record):
    """One of them."""

    instance: str
    """What it is called there."""
    task: str
    """What it is called here."""
    outcome: Outcome
    problems: tuple[str, ...] = ()
    """Why it does not hold here."""
    notes: tuple[str, ...] = ()
    """What of it could not be kept."""
