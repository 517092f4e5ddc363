"""Values that a variant's number decides, the same on every machine and in every version."""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

DIGITS = "0123456789"
LETTERS = "abcdefghjkmnpqrtuvwxyz"
"""Without letters that are taken for digits or for one another."""

Value = TypeVar("Value")


class Drawing:
    """Draws for one purpose: what others draw changes nothing of it.

    Bytes are the SHA-256 digests of the purpose and a counter, one after the other, so that no
    version of Python's own generator matters.
    """

    def __init__(self, *purpose: object) -> None:
        self._begun = hashlib.sha256("\0".join(map(str, purpose)).encode() + b"\0")
        self._drawn = 0

    def below(self, bound: int) -> int:
        """Return an integer from 0 on, below a bound of at most 2^32."""
        self._drawn += 1
        drawn = self._begun.copy()
        drawn.update(b"%d" % self._drawn)
        return int.from_bytes(drawn.digest()[:16], "big") % bound

    def choice(self, values: Sequence[Value]) -> Value:
        """Return one of some values."""
        return values[self.below(len(values))]

    def text(self, alphabet: str, length: int) -> str:
        """Return so many letters of an alphabet."""
        return "".join(self.choice(alphabet) for _ in range(length))

    def shuffled(self, values: Sequence[Value]) -> list[Value]:
        """Return values in another order (Fisher and Yates)."""
        found = list(values)
        for last in range(len(found) - 1, 0, -1):
            other = self.below(last + 1)
            found[last], found[other] = found[other], found[last]
        return found
