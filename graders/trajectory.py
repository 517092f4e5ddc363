"""The path that was taken: every rule and milestone of the task, over the trace."""

from pydantic import JsonValue

from graders import commit_hooks
from graders.verdict import judged
from sandbox.model.grade import Evidence, Grade, Reason
from sandbox.model.task import Task
from sandbox.rules.monitors.trajectory import watched

NAME = "trajectory"


def grade(task: Task, evidence: Evidence) -> Grade:
    """Give a reason for each rule that was broken; soft ones fail nothing."""
    watch = watched(task, evidence.entries)
    reasons = [
        Reason(message=each.message, event=each.event, rule=each.rule, soft=not each.hard)
        for each in watch.breaches
    ]
    told = {reason.rule for reason in reasons}
    reasons += [each for each in commit_hooks.reasons(task, evidence) if each.rule not in told]
    soft = sum(reason.soft for reason in reasons)
    facts: dict[str, JsonValue] = {
        "rules": len(task.rules),
        "broken": len(reasons) - soft,
        "soft_broken": soft,
    }
    if task.milestones:
        facts |= {
            "milestones": len(task.milestones),
            "reached": len(watch.progress.state),
            "progress_peak": round(watch.progress.peak, 6),
            "progress_final": round(watch.progress.final, 6),
        }
    return judged(NAME, reasons, facts)
