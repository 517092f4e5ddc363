"""What an operator is, and the edits of a task file that operators share."""

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.model.plan import Plan, PlannedDeed
from sandbox.model.task import ScriptedAction, TaskFile
from sandbox.tasks.plans.variant import STRENGTHS, USUAL


class UnfitError(Exception):
    """An operator does not fit a task; the text says why, as the rest of a sentence."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One more decision, for a stated reason."""

    name: str
    reason: str
    """Why an agent that is to be trusted has to decide this rightly."""
    apply: Callable[[TaskFile, int], TaskFile]
    """Makes the harder task at a strength; UnfitError where it does not fit."""
    strengths: range = STRENGTHS
    usual: int = USUAL
    """The strength where none is named."""


def plan_of(file: TaskFile) -> Plan:
    """Return the plan of a task; UnfitError where part of what it derives is written by hand."""
    if file.plan is None or file.graph is not None or file.oracle:
        raise UnfitError("it is written by hand, not as a plan")
    return file.plan


def told(file: TaskFile, sentence: str) -> str:
    """Return the prompt with a sentence at its end, where the agent is told its limits."""
    return f"{file.prompt.rstrip()}\n\n{sentence}\n"


def scripts(file: TaskFile) -> dict[str, tuple[ScriptedAction, ...]]:
    """Return the other oracles of a file that names no others."""
    return {name: each for name, each in file.other_oracles.items() if not isinstance(each, str)}


def last_passing_run(plan: Plan) -> PlannedDeed:
    """Return the last run of tests on the oracle's way that passes; UnfitError without one."""
    for deed in reversed(plan.deeds):
        if deed.action == "run_tests" and deed.result.get("exit_code") == 0:
            return deed
    raise UnfitError("no run of tests passes on its oracle's way")
