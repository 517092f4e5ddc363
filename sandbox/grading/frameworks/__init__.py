"""The test frameworks that hidden tests may be written for."""

from collections.abc import Mapping

from sandbox.grading.frameworks.base import Framework
from sandbox.grading.frameworks.node_test import NodeTest
from sandbox.grading.frameworks.pytest import Pytest
from sandbox.grading.frameworks.tape import Tape

FRAMEWORKS: Mapping[str, Framework] = {
    "node:test": NodeTest(),
    "pytest": Pytest(),
    "tape": Tape(),
}
"""By the name that a task file gives: `tests.framework`."""
