"""Pieces of a text that tell that somebody has been shown it, be it in part or in another form."""

import base64
import binascii
import codecs
import re
from collections.abc import Iterator

LENGTH = 20
"""Characters of a piece, blanks apart."""
BOUNDARIES = 2
"""Between how many words a piece lies at least: names and paths stand in other texts, too."""

_NUMBER = re.compile(r"(?=[\w-]*\d)[\w-]{12,}")
"""A word that stands in no other text: long, and with a digit in it."""
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4,}\n?)+")
_HEXADECIMAL = re.compile(r"(?:[0-9a-fA-F]{2}[ \n:]?){16,}")

_DUMPED = re.compile(r"(?:[0-7]{7}|[0-9a-f]{8}):? +(?P<rest>.+)")
"""A line of `od`, `hexdump` or `xxd`: where its bytes stand, and what they are."""
_BYTES = re.compile(r"(?:[0-9a-f]{2} {0,2}){1,16}")


def pieces(line: str) -> set[str]:
    """Give those of a line."""
    words = line.split()
    bare = "".join(words)
    ends, at = set(), 0
    for word in words[:-1]:
        at += len(word)
        ends.add(at)
    found = {
        bare[start : start + LENGTH]
        for start in range(len(bare) - LENGTH + 1)
        if sum(start < end < start + LENGTH for end in ends) >= BOUNDARIES
    }
    return found | set(_NUMBER.findall(line))


def pieces_shown(text: str, known: set[str]) -> set[str]:
    """Give those of some known pieces that a text shows, in whatever form."""
    lengths = {len(piece) for piece in known}
    found: set[str] = set()
    for form in forms(text):
        bare = "".join(form.split())
        for length in lengths:
            found |= {bare[at : at + length] for at in range(len(bare) - length + 1)} & known
    return found


def forms(text: str) -> Iterator[str]:
    """Give a text, and what it says backwards, by ROT13, in base64, in digits or dumped."""
    yield text
    yield "\n".join(line[::-1] for line in text.splitlines())
    yield codecs.encode(text, "rot13")
    for found in _BASE64.findall(text):
        digits = found.replace("\n", "")
        for start in range(4):
            whole = digits[start : start + (len(digits) - start) // 4 * 4]
            yield base64.b64decode(whole).decode("utf-8", "replace")
    for found in _HEXADECIMAL.findall(text):
        digits = re.sub(r"[ \n:]", "", found)
        yield _of_digits(digits)
    dumped = [found["rest"] for found in map(_DUMPED.match, text.splitlines()) if found]
    if dumped:
        yield "".join(dumped)  # `od -c` writes characters
        some = [found[0].replace(" ", "") for found in map(_BYTES.match, dumped) if found]
        yield _of_digits("".join(each[: len(each) // 2 * 2] for each in some))


def _of_digits(digits: str) -> str:
    return binascii.unhexlify(digits[: len(digits) // 2 * 2]).decode("utf-8", "replace")
