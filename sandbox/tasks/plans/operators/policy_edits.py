"""Edits of what a task refuses or asks for, and of what its approver says."""

from sandbox.model.decision import PolicyRule, ScriptedAnswer
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.operators.edits import with_parts


def add_rule(file: TaskFile, rule: PolicyRule) -> TaskFile:
    """Add a rule to the policy, behind those that there are."""
    policy = file.policy
    known = {"rules": (*policy.rules, rule)}
    return with_parts(file, policy=policy.model_copy(update=known))


def add_answer(file: TaskFile, answer: ScriptedAnswer) -> TaskFile:
    """Have the approver say something more, where nothing before it fits."""
    policy = file.policy
    known = {"approver": (*policy.approver, answer)}
    return with_parts(file, policy=policy.model_copy(update=known))
