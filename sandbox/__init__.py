"""A container sandbox that evaluates coding agents on the path they take."""

__version__ = "0.2.0"
