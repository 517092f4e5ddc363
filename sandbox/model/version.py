"""The version of this package, as pyproject.toml has it."""

VERSION = "0.2.0"
