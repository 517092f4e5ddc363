"""Whether a call of a program only reads: by a table, never by guessing."""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from sandbox.model import documents
from sandbox.model.base import Record
from sandbox.model.decision import Words
from sandbox.rules.policy import words
from sandbox.rules.policy.invocation import Invocation

TABLE = Path(__file__).with_name("reading.yaml")
ANY_PROGRAM = "*"


class Form(Record):
    """Calls that are alike."""

    call: tuple[Words, ...]
    """The words with which it begins."""
    has: Words = ()
    """Of these one has to stand behind them, where there are any."""
    only: Words = ()
    """What else may stand behind them."""
    unless: Words = ()
    """What may not."""

    def fits(self, call: Invocation) -> bool:
        """Whether a call is such."""
        begun, behind = call.arguments[: len(self.call)], call.arguments[len(self.call) :]
        if not _match(self.call, begun):
            return False
        options = behind[: behind.index("--")] if "--" in behind else behind
        if self.has and not any(_match((self.has,), (word,)) for word in options):
            return False
        if any(_match((self.unless,), (word,)) for word in call.words):
            return False
        return all(_match(((*self.has, *self.only),), (word,)) for word in behind)


class Reading(Record):
    """The table."""

    help: dict[str, tuple[Form, ...]]
    """Calls that only ask how a program is called, or which one it is; `*` is whatever program."""
    programs: dict[str, tuple[Form, ...]]
    """Others, by program, as `programs.yaml` names it."""


@lru_cache(maxsize=1)
def table() -> Reading:
    """Return the shipped table; DocumentError where it is wrong."""
    return documents.load(TABLE, Reading)


def only_reads(call: Invocation) -> bool:
    """Whether a call changes nothing; of one that is not known to the end this is not known."""
    return asks_for_help(call) or _is_one_of(table().programs.get(call.program), call)


def asks_for_help(call: Invocation) -> bool:
    """Whether a call only asks how the program is called, or which one it is."""
    asking = table().help
    return _is_one_of(asking[ANY_PROGRAM], call) or _is_one_of(asking.get(call.program), call)


def _is_one_of(forms: Iterable[Form] | None, call: Invocation) -> bool:
    return not call.truncated and any(form.fits(call) for form in forms or ())


def _match(globs: tuple[Words, ...], given: tuple[str, ...]) -> bool:
    return words.matches(globs, given, _nowhere)


def _nowhere(word: str) -> bool:
    del word
    return False
