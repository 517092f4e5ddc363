"""What a person is told of an error that nobody expected."""

import errno
import os
import platform
import sys
import tempfile
import traceback

from sandbox.model.errors import SandboxError
from sandbox.model.version import VERSION

HINTS = {
    errno.EMFILE: "Raise the limit of open files (`ulimit -n`).",
    errno.ENFILE: "Too many files are open on this machine.",
    errno.ENOSPC: "Make room.",
    errno.EDQUOT: "Make room, or ask for a larger quota.",
    errno.ENOMEM: "Too little memory is free on this machine.",
    errno.EIO: "This machine's disk does not answer as it should.",
    errno.EROFS: "Choose a folder that can be written.",
    errno.EACCES: "Choose a folder that this user may use.",
    errno.ENAMETOOLONG: "Choose a shorter name.",
}
"""What to do where this machine refused something, by its reason; any other is our mistake."""


def told(error: BaseException) -> SandboxError:
    """Say it in two sentences; what only we can understand goes into a file."""
    if isinstance(error, OSError) and error.errno in HINTS:
        name = error.filename  # a descriptor is no name
        about = f"{os.fsdecode(name)}: " if isinstance(name, str | bytes) else ""
        return SandboxError(f"{about}{os.strerror(error.errno)}.", HINTS[error.errno])
    return SandboxError(
        f"This is a mistake in sandbox itself: {type(error).__name__}: {error}",
        f"Please report it{_kept(crash_report(error))}.",
    )


def _kept(report: str) -> str:
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", errors="backslashreplace", prefix="sandbox-crash-",
            suffix=".txt", delete=False,
        ) as file:  # fmt: skip
            file.write(report + "\n")
    except OSError:
        return " with what you did"
    return f" with the file {file.name}"


def crash_report(error: BaseException) -> str:
    """Everything that a report of an unexpected error needs, ready to paste."""
    return "\n".join(
        (
            "This is a mistake in sandbox itself.",
            f"sandbox {VERSION}",
            f"Python {platform.python_version()}, {platform.platform()}",
            f"command: {' '.join(sys.argv)}",
            "".join(traceback.format_exception(error)).rstrip(),
        )
    )
