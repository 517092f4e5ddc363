"""Operators: pure functions from a task file to a harder one, one decision each.

`docs/operators.md` has a section for each, with a before and after.
"""

import difflib

from sandbox.model.errors import UsageError
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.drawing import Drawing
from sandbox.tasks.plans.operators import (
    account,
    brief,
    change_desk,
    change_of_mind,
    changed_list,
    check_digits,
    commit_note,
    confidential,
    decoy_tools,
    denied_approval,
    deployment,
    escalation,
    far_instructions,
    final_check,
    flood,
    forbidden_shortcut,
    handbook,
    hook_rejection,
    injection,
    instruction_conflict,
    leftovers,
    missing_argument,
    moving_world,
    ownership,
    policy_boundary,
    queue,
    recoverable_failure,
    scarcity,
    sealed_letter,
    silent_regression,
    single_use_approval,
    stale_record,
    stop_condition,
    tight_budget,
    tight_output,
    unrecoverable_failure,
    width,
)
from sandbox.tasks.plans.operators.base import Operator, Setting, UnfitError
from sandbox.tasks.plans.variant import NUMBERS, Variant

OPERATORS: tuple[Operator, ...] = (
    change_desk.OPERATOR,
    missing_argument.OPERATOR,
    stale_record.OPERATOR,
    escalation.OPERATOR,
    escalation.CLEAN,
    flood.OPERATOR,
    silent_regression.OPERATOR,
    deployment.OPERATOR,
    recoverable_failure.OPERATOR,
    stop_condition.OPERATOR,
    queue.OPERATOR,
    changed_list.OPERATOR,
    check_digits.OPERATOR,
    commit_note.OPERATOR,
    unrecoverable_failure.OPERATOR,
    single_use_approval.OPERATOR,
    denied_approval.OPERATOR,
    decoy_tools.OPERATOR,
    instruction_conflict.OPERATOR,
    injection.OPERATOR,
    injection.CLEAN,
    width.OPERATOR,
    ownership.OPERATOR,
    forbidden_shortcut.OPERATOR,
    policy_boundary.OPERATOR,
    hook_rejection.OPERATOR,
    sealed_letter.OPERATOR,
    leftovers.OPERATOR,
    moving_world.OPERATOR,
    change_of_mind.OPERATOR,
    confidential.OPERATOR,
    far_instructions.OPERATOR,
    handbook.OPERATOR,
    final_check.OPERATOR,
    account.OPERATOR,
    scarcity.OPERATOR,
    brief.OPERATOR,
    tight_output.OPERATOR,
    tight_budget.OPERATOR,
)
"""In the order in which they are applied: what adds to the way comes before what measures it."""


def canonical(variant: Variant) -> Variant:
    """Bring its operators into their order; UsageError where one is unknown or stands twice."""
    known = {operator.name: operator for operator in OPERATORS}
    order = list(known)
    names = [name for name, _ in variant.operators]
    for place, name in enumerate(names):
        named(name)
        if name in names[:place]:
            raise UsageError(f"{variant}: {name} stands twice.", "Name it once.")
    for name in names:
        _agrees(known[name], names)
    ordered = sorted(variant.operators, key=lambda each: order.index(each[0]))
    return Variant(
        variant.task,
        tuple((name, strength_of(known[name], given)) for name, given in ordered),
        _number(variant, draws=any(known[name].draws for name in names)),
    )


def named(name: str) -> Operator:
    """Return the operator of a name; UsageError where there is none."""
    known = {operator.name: operator for operator in OPERATORS}
    if name not in known:
        nearest = difflib.get_close_matches(name, known, n=1)
        meant = f"Did you mean {nearest[0]}? " if nearest else ""
        raise UsageError(f"There is no operator {name!r}.", f"{meant}docs/operators.md has all.")
    return known[name]


def _agrees(operator: Operator, names: list[str]) -> None:
    for other in operator.needs:
        if other not in names:
            raise UsageError(
                f"{operator.name} needs {other}, which is not there.", f"Add +{other}."
            )
    for other in operator.excludes:
        if other in names:
            raise UsageError(
                f"{operator.name} and {other} cannot be composed.", "Leave one of them out."
            )


def _number(variant: Variant, *, draws: bool) -> int | None:
    if not draws and variant.number is not None:
        raise UsageError(
            f"{variant}: nothing in it is drawn, so that all numbers would be the same.",
            f"Leave @{variant.number} out.",
        )
    return variant.number or NUMBERS[0] if draws else None


def strength_of(operator: Operator, given: int | None) -> int:
    """Give the strength that is meant; UsageError where the operator has no such one."""
    if given is None:
        return operator.usual
    if given not in operator.strengths:
        first, last = operator.strengths[0], operator.strengths[-1]
        has = f"strengths {first} to {last}" if last > first else f"the strength {first} alone"
        raise UsageError(f"{operator.name} has {has}, not {given}.", "Choose one of these.")
    return given


def applied(file: TaskFile, variant: Variant) -> TaskFile:
    """Apply the operators of a canonical variant; UsageError where one of them cannot be.

    `file` names no other files (`compiler.inlined`). What comes of it has the variant's name.
    """
    known = {operator.name: operator for operator in OPERATORS}
    strengths = {name: strength_of(known[name], given) for name, given in variant.operators}
    for name, strength in strengths.items():
        try:
            draw = Drawing(variant.task, known[name].purpose, variant.number)
            file = known[name].apply(file, Setting(strength, draw, strengths))
        except UnfitError as unfit:
            raise UsageError(
                f"{name} cannot be applied to {variant.task}: {unfit}.",
                "Leave it out, or choose another task.",
            ) from unfit
    return file.model_copy(update={"id": str(variant)})
