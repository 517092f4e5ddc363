"""The path that was taken: every rule of the task, over the trace."""

from graders.verdict import judged
from sandbox.model.grade import Evidence, Grade, Reason
from sandbox.model.task import Task
from sandbox.monitors.check import check

NAME = "trajectory"


def grade(task: Task, evidence: Evidence) -> Grade:
    """Give a reason for each rule that was broken."""
    broken = check(task.rules, evidence.entries)
    reasons = [Reason(message=each.message, event=each.event, rule=each.rule) for each in broken]
    return judged(NAME, reasons, {"rules": len(task.rules), "broken": len(broken)})
