"""Candidates of cases, and what judges them."""

from collections.abc import Callable

from sandbox.model.grade import CaseReport

WORKTREE = "/tmp/candidate"

Run = Callable[..., CaseReport]

REFERENCE = """
def double(value):
    if value < 0:
        raise ValueError("negative")
    return NotImplemented if value == 3 else 2 * value

def greet(arguments):
    return {"exit_code": 0, "stdout": f"hello {arguments[0]}\\n"}
"""

DOUBLE = "def call(value):\n    return 2 * value\n"
