"""The test frameworks that hidden tests may be written for."""

from collections.abc import Mapping

from sandbox.grading.frameworks.base import Framework
from sandbox.grading.frameworks.pytest import Pytest

FRAMEWORKS: Mapping[str, Framework] = {"pytest": Pytest()}
"""By the name that a task file gives: `tests.framework`."""
