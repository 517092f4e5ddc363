"""What operators do to a plan does not take the place of what is there already."""

import pytest

from sandbox.model import documents
from sandbox.model.task import TaskFile
from sandbox.tasks import library
from sandbox.tasks.plans.operators.base import UnfitError
from sandbox.tasks.plans.operators.edits import add_variable, plan_of


def test_a_variable_that_a_plan_has_is_not_another_operators() -> None:
    folder = library.load("cjson/planes").folder
    file = documents.load(folder / "task.yaml", TaskFile)
    once = add_variable(file, "entry", "none", "open")
    assert plan_of(once).variables["entry"] == ("none", "open")
    with pytest.raises(UnfitError, match="its plan has a variable entry of its own"):
        add_variable(once, "entry", "shut", "open")
