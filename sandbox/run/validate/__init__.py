"""Whether a task is what it says, in real containers: a table of what was tried and came of it."""

from sandbox.run.validate.checks import Check, Row
from sandbox.run.validate.subject import REWORDED
from sandbox.run.validate.validation import Options, Validation

__all__ = ["REWORDED", "Check", "Options", "Row", "Validation"]
