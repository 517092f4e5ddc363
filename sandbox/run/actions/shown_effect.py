"""What an action would change, as it is shown to who is asked to permit it."""

import difflib

LONGEST = 16_384
"""Characters of an effect that are kept."""

_COMPARED = 65_536
_LINES = 2_000


def difference(path: str, old: str, new: str) -> str:
    """Give the difference between two states of a file, or their sizes where they are large."""
    if any(len(text) > _COMPARED or text.count("\n") > _LINES for text in (old, new)):
        return f"{path}: {len(old)} characters become {len(new)}"
    rows = difflib.unified_diff(old.splitlines(), new.splitlines(), path, path, lineterm="")
    return cut("\n".join(rows) or f"{path}: its lines stay as they are")


def cut(text: str) -> str:
    """Keep the beginning of a long text, and say how much is missing."""
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}\n… {len(text) - LONGEST} more characters, which are not shown"
