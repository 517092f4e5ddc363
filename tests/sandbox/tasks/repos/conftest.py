"""The gadget project, as fixtures."""

from pathlib import Path

import pytest

from sandbox.model.repository import Repository
from tests.sandbox.tasks.repos import gadget


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return gadget.make_repository(tmp_path)


@pytest.fixture
def task(tmp_path: Path) -> Path:
    return gadget.make_task(tmp_path)
