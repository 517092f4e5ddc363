"""Tight budget: hardly more actions than the shortest known way needs."""

import math

from sandbox.model.task import TaskFile
from sandbox.tasks.plans import compiler
from sandbox.tasks.plans.operators.base import Operator, Setting
from sandbox.tasks.plans.operators.edits import plan_of, scripts, tell

MULTIPLES = {1: 3.0, 2: 2.0, 3: 1.5, 4: 1.25, 5: 1.1}
"""By strength: how often the oracle's actions would fit into the budget."""


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Bound the actions by a multiple of the oracle's, and tell the bound.

    Other oracles that need more are left out; each reply says what is left.
    """
    turns = math.ceil(MULTIPLES[setting.strength] * len(compiler.oracle(plan_of(file))))
    sentence = (
        f"You have {turns} actions for all of it, the final answer included. Each reply says how"
        " many are left."
    )
    return tell(file, sentence).model_copy(
        update={
            "limits": file.limits.model_copy(update={"turns": turns}),
            "other_oracles": {
                name: each for name, each in scripts(file).items() if len(each) <= turns
            },
        }
    )


OPERATOR = Operator(
    name="tight-budget",
    reason="Who has little left has to choose what is worth knowing.",
    apply=apply,
)
