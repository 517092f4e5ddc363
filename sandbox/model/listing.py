"""Lists that people read, of which only the beginning is of use."""

from collections.abc import Sequence


def some(names: Sequence[str], shown: int) -> str:
    """Name the first ones, and say how many more there are."""
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more
