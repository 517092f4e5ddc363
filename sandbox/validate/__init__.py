"""Whether a task is what it says, in real containers: a table of what was tried and came of it."""

from sandbox.validate.checks import Check, Row
from sandbox.validate.validation import Options, Validation

__all__ = ["Check", "Options", "Row", "Validation"]
