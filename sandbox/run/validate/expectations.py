"""What about a run is not as its case says."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from sandbox.model.event import Entry
from sandbox.model.final import TRUE_VALUE, same_but_for_facts
from sandbox.model.grade import RunGrade
from sandbox.model.task import Task
from sandbox.model.verdict import Verdict
from sandbox.rules.checker.check import graph_of
from sandbox.rules.checker.world import Move, World
from sandbox.rules.monitors.context import Context
from sandbox.rules.monitors.steps import Step, everything
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
        world = World(graph_of(task), task.oracle, Context.of(task))
        moves = {move.edge.id: move for move in world.moves}
        walked = [moves[edge] for edge in case.edges]
        problems += differences(walked, list(everything(entries)))
    return problems


def _verdict_problems(case: Case, grade: RunGrade) -> Iterable[str]:
    refused = refusers(grade)
    others = [name for name in refused if name != "trajectory"]
    if case.passes:
        if grade.verdict is not Verdict.PASSED:
            yield f"the verdict is {grade.verdict}, by {', '.join(refused) or NOBODY}"
            yield from _reasons(grade)
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


def _reasons(grade: RunGrade) -> Iterable[str]:
    """Say why a run was refused, at most one sentence a grader."""
    for part in grade.grades:
        hard = [reason.message for reason in part.reasons if not reason.soft]
        if part.verdict is not Verdict.PASSED and hard:
            yield f"{part.grader}: {hard[0]}"


def differences(walked: Sequence[Move], done: Sequence[Step]) -> list[str]:
    """Say where the world did not answer as the graph says, and where its facts are others."""
    claims = [(move.edge.id, deed) for move in walked for deed in _deeds(move.steps)]
    deeds = _deeds(done)
    found = []
    for (edge, claim), deed in zip(claims, deeds, strict=False):
        if (text := _difference(claim, deed)) is not None:
            found.append(f"on the edge {edge}, {claim.action.name} {text}")
    if len(claims) != len(deeds):
        found.append(f"{len(deeds)} actions were taken where the graph has {len(claims)}")
    return found


@dataclass(frozen=True, slots=True)
class _Deed:
    """An action with the facts that came before its answer."""

    action: Step
    facts: tuple[Step, ...]

    @property
    def changes(self) -> set[str]:
        """Paths that are other than before, when it is over."""
        last = {fact.changes[0]: fact for fact in self.facts if fact.kind == "changed"}
        first = {fact.changes[0]: fact for fact in reversed(self.facts) if fact.kind == "changed"}
        return {path for path, fact in last.items() if not _undone(first[path], fact)}

    @property
    def commits(self) -> list[JsonValue]:
        """Of each commit, whether the hooks were asked."""
        return [fact.arguments.get("hooked") for fact in self.facts if fact.kind == "committed"]

    @property
    def tested(self) -> list[tuple[JsonValue, JsonValue]]:
        """What was tested, and how that ended."""
        tests = (fact.arguments for fact in self.facts if fact.kind == "tested")
        return [(test.get("paths"), test.get("exit_code")) for test in tests]


def _undone(first: Step, last: Step) -> bool:
    if first is last or "before" not in first.arguments:
        return False
    return first.arguments["before"] == last.arguments.get("digest")


def _deeds(steps: Iterable[Step]) -> list[_Deed]:
    deeds, facts = [], list[Step]()
    for step in steps:
        if step.kind == "action":
            deeds.append(_Deed(step, tuple(facts)))
            facts = []
        else:
            facts.append(step)
    return deeds


def _as_scripted(script: Mapping[str, JsonValue], done: Mapping[str, JsonValue]) -> bool:
    """Whether arguments are a script's, but for what it leaves to the facts of the run."""
    fields, answered = script.get("fields"), done.get("fields")
    if not isinstance(fields, dict) or not isinstance(answered, dict):
        return script.keys() == done.keys() and all(
            value == done[name]
            or (isinstance(value, str) and same_but_for_facts(value, str(done[name])))
            for name, value in script.items()
        )
    left = [name for name, value in fields.items() if value == TRUE_VALUE]
    known = {**fields, **{name: answered.get(name) for name in left}}
    return {**script, "fields": known} == done


def _difference(claimed: _Deed, done: _Deed) -> str | None:
    claim, step = claimed.action, done.action
    said, seen = claim.observation, step.observation
    if claim.name != step.name or not _as_scripted(claim.arguments, step.arguments):
        return f"is not what was done, which is {step.name}"
    if said is None or seen is None:
        return None if said is seen else "was never answered"
    if (said.status, said.error_code) != (seen.status, seen.error_code):
        return f"gave {seen.error_code or 'ok'}, not {said.error_code or 'ok'}"
    for name, value in said.result.items():
        if name not in seen.result or seen.result[name] != value:
            return f"gave {name} = {seen.result.get(name)!r}, not {value!r}"
    return _other_facts(claimed, done)


def _other_facts(claimed: _Deed, done: _Deed) -> str | None:
    if claimed.changes != done.changes:
        wrote = ", ".join(sorted(done.changes)) or "nothing"
        return f"changed {wrote}, not {', '.join(sorted(claimed.changes)) or 'nothing'}"
    if claimed.commits != done.commits:
        return f"made commits with hooks asked {done.commits}, not {claimed.commits}"
    for test in claimed.tested:
        if test not in done.tested:
            return f"tested {done.tested}, and not {test}"
    return None
