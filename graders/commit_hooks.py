"""Whether the hooks agree to what was delivered, where a task's rules speak of hooks."""

from collections.abc import Iterator

from sandbox.model.change import HookAnswer
from sandbox.model.fact import Committed
from sandbox.model.grade import Evidence, Reason
from sandbox.model.rule import Rule
from sandbox.model.task import Task

FIELDS = frozenset(("arguments.hooked", "arguments.hooks"))


def about_hooks(task: Task) -> Rule | None:
    """Give the first hard rule that looks at the hooks of commits; None where none does."""
    return next((rule for rule in task.rules if rule.hard and _is_about_hooks(rule)), None)


def _is_about_hooks(rule: Rule) -> bool:
    atoms = (atom for atom in rule.atoms if atom.kind == "committed")
    return any(FIELDS & atom.where.keys() for atom in atoms)


def reasons(task: Task, evidence: Evidence) -> Iterator[Reason]:
    """Object to commits that the hooks refuse as they were delivered."""
    git = evidence.changes.git if evidence.changes else None
    rule = about_hooks(task)
    if git is None or rule is None:
        return
    events = {
        entry.event.id: entry.sequence
        for entry in evidence.entries
        if isinstance(entry.event, Committed)
    }
    for answer in git.asked:
        if answer.exit_code != 0:
            message = f"{rule.reason} (stated in {rule.stated_in}) {_refusal(answer)}"
            yield Reason(message=message, event=events.get(answer.commit), rule=rule.id)


def _refusal(answer: HookAnswer) -> str:
    commit = f"the commit {answer.commit[:12]} as it was delivered"
    said = f": {' '.join(answer.said.split())}" if answer.said else "."
    if not answer.hook:
        return f"Its hooks cannot be asked about {commit}{said}"
    return f"Asked once more, the hook {answer.hook} refuses {commit}{said}"
