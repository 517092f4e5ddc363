"""How long the host waits for a supervisor that says nothing: it may be stopped or frozen."""

import time
from collections.abc import Callable

ANSWER_SECONDS = 60.0
"""Silence, of the whole supervisor, after which a question is not answered any more."""

QUIET_SECONDS = 30.0
"""Silence after which it is asked whether it is still there, while a command runs."""

GRACE_SECONDS = 30.0
"""How long a command may go on beyond its own limit, which the supervisor keeps."""

HURRY_SECONDS = 10.0
"""Silence that is enough once somebody wants the end."""

_SLICE_SECONDS = 1.0


class Silence(Exception):  # noqa: N818 - it becomes a lost session
    """Nothing was heard for too long."""


class Patience:
    """When a supervisor was heard last."""

    def __init__(self) -> None:
        self._heard = time.monotonic()
        self._hurried: float | None = None

    @property
    def hurried(self) -> bool:
        """Whether somebody wants the end."""
        return self._hurried is not None

    def hurry(self) -> None:
        """Wait for no answer much longer, also for those that are waited for already."""
        if self._hurried is None:
            self._hurried = time.monotonic()

    def heard(self) -> None:
        """Something came, whatever it was."""
        self._heard = time.monotonic()

    def wait(self, arrived: Callable[[float], bool], seconds: float | None) -> None:
        """Wait until something has arrived; Silence after so many seconds without a word.

        `arrived` waits for the time that it is given at most. Without `seconds` there is no end.
        """
        began = time.monotonic()
        wanted = _SLICE_SECONDS if seconds is None else min(seconds, _SLICE_SECONDS)
        while not arrived(wanted):
            hurried = self._hurried
            since, most = max(began, self._heard), seconds
            if hurried is not None:
                since, most = max(since, hurried), min(HURRY_SECONDS, seconds or HURRY_SECONDS)
            silent = time.monotonic() - since
            if most is not None and silent >= most:
                raise Silence(f"it has said nothing for {silent:.0f} seconds")
