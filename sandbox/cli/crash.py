"""What is printed of an unexpected error."""

import platform
import sys
import traceback

import sandbox


def crash_report(error: BaseException) -> str:
    """Everything that a report of an unexpected error needs, ready to paste."""
    return "\n".join(
        (
            "This is a mistake in sandbox itself. Please report it with the lines below.",
            f"sandbox {sandbox.__version__}",
            f"Python {platform.python_version()}, {platform.platform()}",
            f"command: {' '.join(sys.argv)}",
            "".join(traceback.format_exception(error)).rstrip(),
        )
    )
