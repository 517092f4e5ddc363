"""Whether a call of a program only reads: by a table, never by guessing."""

from functools import lru_cache
from pathlib import Path

from sandbox.model import documents
from sandbox.model.base import Record
from sandbox.model.decision import Words
from sandbox.rules.policy import words
from sandbox.rules.policy.invocation import Invocation

TABLE = Path(__file__).with_name("reading.yaml")


class Reading(Record):
    """The table."""

    any: tuple[tuple[Words, ...], ...]
    """Calls of whatever program."""
    programs: dict[str, tuple[tuple[Words, ...], ...]]
    """By program, as `programs.yaml` names it."""


@lru_cache(maxsize=1)
def table() -> Reading:
    """Return the shipped table; DocumentError where it is wrong."""
    return documents.load(TABLE, Reading)


def only_reads(call: Invocation) -> bool:
    """Whether a call changes nothing; of one that is not known to the end this is not known."""
    if call.truncated:
        return False
    known = (*table().any, *table().programs.get(call.program, ()))
    return any(words.matches(pattern, call.arguments, _nowhere) for pattern in known)


def _nowhere(word: str) -> bool:
    del word
    return False
