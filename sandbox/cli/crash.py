"""What a person is told of an error that nobody expected."""

import errno
import os
import platform
import sys
import tempfile
import traceback

import sandbox
from sandbox.model.errors import SandboxError

HINTS = {
    errno.EMFILE: "Raise the limit of open files (`ulimit -n`).",
    errno.ENFILE: "Too many files are open on this machine.",
    errno.ENOSPC: "Make room.",
    errno.EROFS: "Choose a folder that can be written.",
    errno.EACCES: "Choose a folder that this user may use.",
    errno.ENAMETOOLONG: "Choose a shorter name.",
}
"""What to do where this machine refused something, by its reason."""


def told(error: BaseException) -> SandboxError:
    """Say it in two sentences; what only we can understand goes into a file."""
    if isinstance(error, OSError) and error.errno is not None:
        about = (
            f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        )
        return SandboxError(
            f"{about}{os.strerror(error.errno)}.",
            HINTS.get(error.errno, "`sandbox doctor` says what this machine lacks."),
        )
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
            f"sandbox {sandbox.__version__}",
            f"Python {platform.python_version()}, {platform.platform()}",
            f"command: {' '.join(sys.argv)}",
            "".join(traceback.format_exception(error)).rstrip(),
        )
    )
