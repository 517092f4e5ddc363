"""Final check: what was committed is tested once more, as it was committed."""

from sandbox.model.atom import Atom
from sandbox.model.plan import Segment
from sandbox.model.rule import Fresh
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.operators.base import Operator, Setting, UnfitError
from sandbox.tasks.plans.operators.edits import (
    add_rules,
    add_ways,
    before_answer,
    last_passing_run,
    plan_of,
    put_last,
    tell,
)

NAME, WAY = "final-check", "answer-unchecked"
SENTENCE = "After your last commit run the same tests once more, before you answer."


def apply(file: TaskFile, _: Setting) -> TaskFile:
    """Put a run of tests before the answer of each known way; the trap leaves it out."""
    atom, run = _tested(file), last_passing_run(plan_of(file))
    checked = Segment(
        id=NAME,
        to="checked",
        says="what was committed has passed its tests",
        does=(run.model_copy(update={"label": NAME}),),
    )
    rule = Fresh(
        id=NAME,
        template="fresh",
        a=atom,
        since=Atom(kind="committed"),
        before=Atom(action="final_answer"),
        reason="A commit may hold less than what was tested.",
        stated_in="prompt",
        says=SENTENCE,
    )
    answer, origin = plan_of(file).segments[-1].id, before_answer(file)
    file = put_last(add_rules(tell(file, SENTENCE), rule), checked)
    return add_ways(file, {"id": WAY, "from": origin, "like": answer})


def _tested(file: TaskFile) -> Atom:
    """Return what a rule wants to see pass before each commit; UnfitError where none does."""
    found = (
        rule.a for rule in file.rules if isinstance(rule, Fresh) and rule.before.kind == "committed"
    )
    for atom in found:
        if atom.tests is not None:
            return atom
    raise UnfitError("no rule of it wants tests to pass before a commit")


OPERATOR = Operator(
    name=NAME,
    reason="What is delivered has to be what was tested, not what lay beside it.",
    strengths=range(1, 2),
    usual=1,
    apply=apply,
)
