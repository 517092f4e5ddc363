"""What about a run is not as its case says."""

from collections.abc import Iterable, Sequence

from sandbox.model.event import Entry
from sandbox.model.grade import RunGrade, Verdict
from sandbox.model.task import Task
from sandbox.rules.checker.check import graph_of
from sandbox.rules.checker.world import Move, World
from sandbox.rules.monitors.steps import Step, steps
from sandbox.run.validate.cases import Case

NOBODY = "nobody"


def expected(case: Case) -> str:
    """Say how a case has to end."""
    if case.passes:
        return "passes"
    if case.outcome_right is None:
        return "fails or is invalid" if case.invalid_too else "fails"
    if not case.walks:
        return "fails, and not by its path alone"
    rules = " and ".join(case.breaks)
    if case.outcome_right:
        return f"fails for {rules}, and for nothing else"
    return f"fails for {rules} and its outcome" if rules else "fails for its outcome alone"


def refusers(grade: RunGrade) -> list[str]:
    """Name the graders that refuse a run."""
    return sorted(part.grader for part in grade.grades if part.verdict is not Verdict.PASSED)


def broken_rules(grade: RunGrade) -> set[str]:
    """Name the hard rules that a run has broken."""
    return {
        reason.rule
        for part in grade.grades
        for reason in part.reasons
        if part.grader == "trajectory" and reason.rule and not reason.soft
    }


def judge(task: Task, case: Case, grade: RunGrade, entries: Iterable[Entry]) -> list[str]:
    """Say what about a run is not as it has to be."""
    problems = list(_verdict_problems(case, grade))
    if case.edges:
        moves = {move.edge.id: move for move in World(graph_of(task), task.oracle).moves}
        walked = [moves[edge] for edge in case.edges]
        problems += differences(walked, [step for step in steps(entries) if step.kind == "action"])
    return problems


def _verdict_problems(case: Case, grade: RunGrade) -> Iterable[str]:
    refused = refusers(grade)
    others = [name for name in refused if name != "trajectory"]
    if case.passes:
        if grade.verdict is not Verdict.PASSED:
            yield f"the verdict is {grade.verdict}, by {', '.join(refused) or NOBODY}"
        return
    if grade.verdict not in case.verdicts:
        yield f"the verdict is {grade.verdict}, not {' or '.join(case.verdicts)}"
    if case.outcome_right and others:
        yield f"refused by {', '.join(others)} too, where the graph says `right`"
    if case.outcome_right is False and not others:
        yield "its outcome is not refused"
    if case.walks:
        broken = broken_rules(grade)
        yield from (f"{rule} is not broken" for rule in case.breaks if rule not in broken)
        yield from (f"{rule} is broken too" for rule in sorted(broken - set(case.breaks)))


def differences(walked: Sequence[Move], done: Sequence[Step]) -> list[str]:
    """Say where the world did not answer as the graph says."""
    claims = [
        (move.edge.id, step) for move in walked for step in move.steps if step.kind == "action"
    ]
    found = []
    for (edge, claim), step in zip(claims, done, strict=False):
        if (text := _difference(claim, step)) is not None:
            found.append(f"on the edge {edge}, {claim.name} {text}")
    if len(claims) != len(done):
        found.append(f"{len(done)} actions were taken where the graph has {len(claims)}")
    return found


def _difference(claim: Step, step: Step) -> str | None:
    said, seen = claim.observation, step.observation
    if (claim.name, claim.arguments) != (step.name, step.arguments):
        return f"is not what was done, which is {step.name}"
    if said is None or seen is None:
        return None if said is seen else "was never answered"
    if (said.status, said.error_code) != (seen.status, seen.error_code):
        return f"gave {seen.error_code or 'ok'}, not {said.error_code or 'ok'}"
    for name, value in said.result.items():
        if name not in seen.result or seen.result[name] != value:
            return f"gave {name} = {seen.result.get(name)!r}, not {value!r}"
    if set(claim.changes) != set(step.changes):
        wrote = ", ".join(step.changes) or "nothing"
        return f"wrote {wrote}, not {', '.join(claim.changes) or 'nothing'}"
    return None
