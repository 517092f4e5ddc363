"""What an engine prints while it builds, imports or pulls, and what its last words mean."""

import re
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from sandbox.model.errors import ImageError

LAST_LINES = 20
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def follow(events: Iterable[dict[str, Any]], doing: str, on_line: Callable[[str], None]) -> None:
    """Hand each printed line to `on_line`; `ImageError` with the last lines on failure."""
    last: deque[str] = deque(maxlen=LAST_LINES)
    reason = None
    for event in events:  # to its end also after an error, else the connection stays open
        for line in _lines(event):
            last.append(line)
            on_line(line)
        reason = reason or event.get("error")
    if reason:
        raise failure(doing, str(reason), last)


def failure(doing: str, reason: str, last: Iterable[str] = ()) -> ImageError:
    """The error for an engine's `reason`, after the `last` lines that it printed."""
    printed = "".join(f"\n    {line}" for line in last)
    if is_disk_full(reason):
        return ImageError(
            f"The engine's disk is full: {doing} stopped ({reason.strip()}).{printed}",
            "Free some space (`sandbox gc`, `docker system prune`), then do it again.",
        )
    return ImageError(f"{doing} failed: {reason.strip()}{printed}")


def is_disk_full(reason: str) -> bool:
    """Whether an engine's `reason` is that its disk is full."""
    return "no space left on device" in reason.lower()


def _lines(event: dict[str, Any]) -> list[str]:
    if "stream" in event:
        text = COLOURS.sub("", str(event["stream"]))
        return [line for line in text.splitlines() if line.strip()]
    if "status" in event and "progressDetail" not in event:
        return [" ".join(str(event[key]) for key in ("id", "status") if event.get(key))]
    return []
