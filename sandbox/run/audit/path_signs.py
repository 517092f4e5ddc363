"""Signs in what agents did: outcomes without paths, the harness's gain, what goes wrong first."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from sandbox.model.audit import Sign
from sandbox.model.event import Entry, Observed, Violation
from sandbox.model.grade import RunGrade
from sandbox.model.observation import ErrorCode
from sandbox.model.verdict import Verdict

FEW = 5
"""Runs below which nothing is said of agents."""
EASY = 0.6
"""A share of right outcomes that is high."""
RARE = 0.05
NEARLY_ALL = 0.95
SPELLING = (ErrorCode.BAD_ARGUMENTS, ErrorCode.BAD_REQUEST, ErrorCode.UNKNOWN_TOOL)


@dataclass(frozen=True, slots=True)
class Judged:
    """A stored run that says something about its agent."""

    agent: str
    """Without its mode."""
    mode: str
    grade: RunGrade
    entries: tuple[Entry, ...]
    facet: str = ""
    operators: tuple[str, ...] = ()
    """Of its variant, with their strengths."""

    @property
    def passed(self) -> bool:
        """Whether it passed."""
        return self.grade.verdict is Verdict.PASSED

    @property
    def refused_by(self) -> tuple[str, ...]:
        """The graders that said no."""
        parts = self.grade.grades
        return tuple(part.grader for part in parts if part.verdict is not Verdict.PASSED)

    @property
    def outcome_right(self) -> bool:
        """Whether nothing but its path was refused."""
        return set(self.refused_by) <= {"trajectory"}


def lucky(runs: Sequence[Judged]) -> Sign:
    """Sign 1: outcomes are right, and paths are hardly ever what a run fails for."""
    name, question = "path", "Are outcomes mostly right, and do paths hardly ever fail?"
    right = [run for run in runs if run.outcome_right]
    lost = [run for run in right if not run.passed]
    if len(runs) < FEW:
        return _too_few(name, question, runs)
    warns = len(right) / len(runs) > EASY and len(lost) / len(right) < RARE
    return Sign(
        name=name,
        question=question,
        status="warning" if warns else "clear",
        value=f"{len(right)}/{len(runs)} outcomes right, {len(lost)}/{len(right)} of them by a "
        "path that fails",
    )


def gain(runs: Sequence[Judged]) -> Sign:
    """Sign 2: the minimal harness makes an agent nearly perfect that is not without it."""
    name, question = "harness", "Does repairing spelling make an agent nearly perfect?"
    by_mode: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        by_mode[run.agent][run.mode].append(run.passed)
    both = {agent: modes for agent, modes in by_mode.items() if {"raw", "minimal"} <= set(modes)}
    if not both:
        return Sign(
            name=name,
            question=question,
            status="unknown",
            value="no agent has runs in both modes",
            details=("sandbox run TASK... --agent CMD, and again with --mode minimal",),
        )
    rows, warns = [], False
    for agent, modes in sorted(both.items()):
        raw, minimal = modes["raw"], modes["minimal"]
        shares = sum(raw) / len(raw), sum(minimal) / len(minimal)
        warns = warns or shares[1] >= NEARLY_ALL > shares[0]
        rows.append(f"{agent}: raw {sum(raw)}/{len(raw)}, minimal {sum(minimal)}/{len(minimal)}")
    return Sign(
        name=name,
        question=question,
        status="warning" if warns else "clear",
        value=f"{len(both)} agents in both modes",
        details=tuple(rows),
    )


def first_faults(runs: Sequence[Judged]) -> Sign:
    """Sign 3: most runs that fail go wrong first by spelling."""
    name, question = "spelling", "Is spelling what goes wrong first in most failures?"
    failed = [run for run in runs if not run.passed and run.mode == "raw"]
    if len(failed) < FEW:
        return _too_few(name, question, failed)
    classes = Counter(first_fault(run) for run in failed)
    count = classes["spelling"]
    return Sign(
        name=name,
        question=question,
        status="warning" if count * 2 > len(failed) else "clear",
        value=f"{count}/{len(failed)} failures begin with spelling",
        details=tuple(f"{number} {kind}" for kind, number in classes.most_common()),
    )


def first_fault(run: Judged) -> str:
    """Say what went wrong first in a run: spelling, a rule, or else what refused its outcome."""
    for entry in run.entries:
        event = entry.event
        if isinstance(event, Violation) and event.hard:
            return f"rule {event.rule}"
        if isinstance(event, Observed) and event.observation.error_code in SPELLING:
            return "spelling"
    others = [grader for grader in run.refused_by if grader != "trajectory"]
    return next(iter([*others, *run.refused_by]), "nothing")


def _too_few(name: str, question: str, runs: Sequence[Judged]) -> Sign:
    value = f"{len(runs)} such runs, {FEW} are needed"
    return Sign(name=name, question=question, status="unknown", value=value)
