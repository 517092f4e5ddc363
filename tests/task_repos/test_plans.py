"""The plans of the tasks, as their authors wrote them."""

import re
from pathlib import Path

import pytest

from tests.conftest import TASK_FILES

LINES = 200
"""Of a plan, at most."""
PLAN = re.compile(r"^plan:\n(?: .*\n|\n)*", re.MULTILINE)


@pytest.mark.parametrize("file", TASK_FILES, ids=lambda file: f"{file.parts[-3]}/{file.parts[-2]}")
def test_a_plan_is_short(file: Path) -> None:
    plan = PLAN.search(file.read_text(encoding="utf-8"))
    assert plan
    assert 100 < plan[0].rstrip().count("\n") < LINES
