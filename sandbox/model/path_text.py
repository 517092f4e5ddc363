r"""File names as text: UTF-8, where a byte that is none is `\xNN` and a backslash is doubled.

File names hold any byte but NUL; JSON and YAML hold only text. Both functions are exact inverses
on what `text` gives.
"""

import re

ESCAPE = re.compile(rb"\\(\\|x[0-9a-f]{2})")


def text(path: bytes) -> str:
    """Name a path in text."""
    return path.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def raw(path: str) -> bytes:
    """Give the bytes that a path's text stands for; a lone backslash stands for itself."""
    return ESCAPE.sub(
        lambda found: b"\\" if found[1] == b"\\" else bytes([int(found[1][1:], 16)]),
        path.encode("utf-8", "surrogateescape"),
    )
