"""A stored run as material for tasks: what was done, how it was judged, what was decided on it."""

import re
import shlex
from collections.abc import Iterable

from sandbox.grading.stored_grade import stored_grade
from sandbox.model import trace as traces
from sandbox.model.allowance import UNBOUNDED
from sandbox.model.decision import Policy, PolicyRule, ScriptedAnswer
from sandbox.model.errors import UsageError
from sandbox.model.event import ActionTaken, ApprovalDecided, Entry, Executed
from sandbox.model.grade import Reason, RunGrade
from sandbox.model.run import RunRecord
from sandbox.model.run_folder import RunFolder
from sandbox.model.task import ScriptedAction
from sandbox.model.verdict import Verdict
from sandbox.rules.policy import examples
from sandbox.tasks.harvested import Deeds
from sandbox.tasks.library import LoadedTask

SHORT = 8
"""Characters of a run's name that tell it from others."""
RULES = "trajectory"


def deeds(folder: RunFolder, task: LoadedTask) -> Deeds:
    """Give what a run's agent asked for, and how the task judged it.

    UsageError where the run cannot be made again from its actions, EvidenceError where it was
    altered.
    """
    record = folder.record()
    _can_be_done_again(record, task)
    grade = stored_grade(folder, record)
    if grade is None or not grade.grades:
        raise UsageError(
            f"The run {record.id} has no verdict that says anything of its agent.",
            "Take one that passed or failed.",
        )
    actions = tuple(
        ScriptedAction(action=each.name, arguments=each.arguments)
        for each in _taken(traces.whole(folder.trace))
    )
    if grade.verdict is Verdict.PASSED:
        return Deeds(record.id[:SHORT], actions)
    refusers = {part.grader for part in grade.grades if part.verdict is not Verdict.PASSED}
    breaks = tuple(sorted({reason.rule for reason in _broken(grade) if reason.rule}))
    by_rules = bool(breaks) and refusers == {RULES}
    return Deeds(record.id[:SHORT], actions, breaks=breaks, outcome_right=by_rules)


def decided(folder: RunFolder, task: LoadedTask, event: int | None = None) -> Policy:
    """Give the task's policy with what was decided in a run: as examples of its rules, as answers.

    The lines that a rule was applied to are examples of what it matches; what the approver said is
    what the scripted approver says, once each, in that order. With `event` only the decision at
    that place of the trace counts. EvidenceError for an altered trace, UsageError for an event by
    which nothing was decided.
    """
    entries = [
        entry for entry in traces.whole(folder.trace) if event is None or entry.sequence == event
    ]
    lines = _lines(entries)
    if event is not None and not lines and not _answers(entries):
        raise UsageError(
            f"Nothing was decided by event {event} of the run {folder.id}.",
            f"`sandbox trace {folder.id[:SHORT]}` lists its events with their numbers.",
        )
    policy = task.task.policy
    rules = tuple(_with_examples(rule, lines.get(rule.id, ())) for rule in policy.rules)
    return policy.model_copy(update={"rules": rules, "approver": _answers(entries)})


def _lines(entries: Iterable[Entry]) -> dict[str, list[str]]:
    """Give the lines and programs that rules were applied to, by rule, in their order."""
    found: dict[str, list[str]] = {}
    for entry in entries:
        event = entry.event
        if isinstance(event, ActionTaken):
            line = event.arguments.get("command")
        elif isinstance(event, Executed) and not event.truncated:
            line = shlex.join(event.argv)
        else:
            continue
        if event.decision and event.decision.rule and isinstance(line, str):
            found.setdefault(event.decision.rule, []).append(line)
    return found


def _can_be_done_again(record: RunRecord, task: LoadedTask) -> None:
    problem = ""
    if record.task_digest != task.digest:
        problem = "its task has changed since"
    elif record.inside:
        problem = "its agent acted in the container, by its own means"
    elif record.approver != "script":
        problem = f"its questions were answered by {record.approver}, not by the task's script"
    elif record.allowance != UNBOUNDED:
        problem = f"it was bounded by {record.allowance}"
    if problem:
        raise UsageError(
            f"The run {record.id} cannot be made again from its actions: {problem}.",
            "Take a run without this.",
        )


def _taken(entries: Iterable[Entry]) -> list[ActionTaken]:
    return [entry.event for entry in entries if isinstance(entry.event, ActionTaken)]


def _broken(grade: RunGrade) -> list[Reason]:
    return [
        reason
        for part in grade.grades
        for reason in part.reasons
        if part.grader == RULES and not reason.soft
    ]


def _with_examples(rule: PolicyRule, lines: Iterable[str]) -> PolicyRule:
    """Add lines that the rule matches by themselves, wherever they run."""
    found = list(rule.match)
    for line in lines:
        alone = rule.model_copy(update={"match": (line,), "not_match": ()})
        if line not in found and not list(examples.problems(Policy(rules=(alone,)))):
            found.append(line)
    return rule.model_copy(update={"match": tuple(found)})


def _answers(entries: Iterable[Entry]) -> tuple[ScriptedAnswer, ...]:
    fresh = [
        entry.event
        for entry in entries
        if isinstance(entry.event, ApprovalDecided) and entry.event.granted_at is None
    ]
    return tuple(
        ScriptedAnswer(
            scope=event.question.scope,
            command=rf"\A{re.escape(event.question.command)}\Z",
            answer=event.answer,
            times=1,
        )
        for event in fresh
    )
