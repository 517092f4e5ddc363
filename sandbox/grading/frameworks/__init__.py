"""The test frameworks that hidden tests may be written for."""

from collections.abc import Mapping

from sandbox.grading.frameworks.base import AnyFramework
from sandbox.grading.frameworks.cargo_test import CargoTest
from sandbox.grading.frameworks.go_test import GoTest
from sandbox.grading.frameworks.node_test import NodeTest
from sandbox.grading.frameworks.pytest import Pytest
from sandbox.grading.frameworks.tape import Tape
from sandbox.grading.frameworks.unity import Unity
from sandbox.grading.frameworks.vitest import Vitest
from sandbox.model.task_tests import Tests

FRAMEWORKS: Mapping[str, AnyFramework] = {
    "cargo test": CargoTest(),
    "go test": GoTest(),
    "node:test": NodeTest(),
    "pytest": Pytest(),
    "tape": Tape(),
    "unity": Unity(),
    "vitest": Vitest(),
}
"""By the name that a task file gives: `tests.framework`."""

_SANITIZED = Unity(sanitized=True)


def framework_of(tests: Tests) -> AnyFramework | None:
    """Give that of a task; None where it has no tests with ids."""
    return _SANITIZED if tests.sanitized else FRAMEWORKS.get(tests.framework)
