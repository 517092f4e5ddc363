"""Final check: what was committed is tested once more, as it was committed."""

from sandbox.model.atom import Atom
from sandbox.model.plan import Segment, Way
from sandbox.model.rule import Fresh
from sandbox.model.task import ScriptedAction, TaskFile
from sandbox.tasks.plans.operators.base import (
    Operator,
    UnfitError,
    last_passing_run,
    plan_of,
    scripts,
    told,
)

NAME, WAY = "final-check", "answer-unchecked"
SENTENCE = "After your last commit run the same tests once more, before you answer."


def apply(file: TaskFile, strength: int) -> TaskFile:  # noqa: ARG001 - the sentence is the same
    """Put a run of tests before the answer of each known way; the trap leaves it out."""
    plan, atom = plan_of(file), _tested(file)
    run = last_passing_run(plan)
    *before, answer = plan.segments
    if answer.ends != "answer" or not before:
        raise UnfitError("its oracle's way does not end with an answer alone")
    checked = Segment(
        id=NAME,
        to="checked",
        says="what was committed has passed its tests",
        does=(run.model_copy(update={"label": NAME}),),
    )
    trap = Way.model_validate({"id": WAY, "from": before[-1].to, "like": answer.id})
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
    again = ScriptedAction(action="run_tests", arguments=run.arguments)
    others = {name: (*each[:-1], again, each[-1]) for name, each in scripts(file).items()}
    return file.model_copy(
        update={
            "prompt": told(file, SENTENCE),
            "rules": (*file.rules, rule),
            "other_oracles": others,
            "plan": plan.model_copy(
                update={
                    "segments": (*before, checked, answer),
                    "ways": (*plan.ways, trap),
                }
            ),
        }
    )


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
