"""What a task's rules say of an action before it is carried out, and of a process before it runs.

Rules about actions decide on actions, rules about processes on processes. A shell line is judged
by both: as an action, and by each program that its text names. The first rule that matches
decides on each of these; of several decisions the strictest holds.
"""

import os
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from posixpath import join, normpath

from sandbox.model.decision import Decision, Outcome, Policy, PolicyRule
from sandbox.model.shell.reader import programs
from sandbox.model.shell.table import Table, shipped
from sandbox.rules.policy.invocation import Identify, Invocation, readings
from sandbox.rules.policy.patterns import Fields, Matcher
from sandbox.rules.policy.subject import Process, Subject

STRICTNESS = (Outcome.DENY, Outcome.ASK, Outcome.ALLOW)
ALLOWED = Decision(outcome=Outcome.ALLOW)
NO_ROOT = Decision(outcome=Outcome.DENY, reason="No rule of the policy lets this run as root.")


@dataclass(frozen=True, slots=True)
class Finding:
    """What was decided on one thing, and why."""

    decision: Decision
    fields: tuple[str, ...] = ()
    """The fields of the rule by which it matched."""
    invocation: Invocation | None = None
    """As what a program was read; None for an action."""
    ancestors: tuple[str, ...] = ()
    """What the program would descend from."""
    privileged: bool = False
    """Whether this is about the program being root, apart from its being run at all."""

    @property
    def command(self) -> str:
        """What a grant for the program is for: its name and all its words."""
        reading = self.invocation
        words = (reading.program, *reading.words) if reading else ()
        return os.fsencode(shlex.join(words)).decode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True)
class Judgement:
    """All that was found, the strictest first."""

    findings: tuple[Finding, ...]

    @property
    def decision(self) -> Decision:
        """What holds."""
        return self.findings[0].decision if self.findings else ALLOWED

    @property
    def part(self) -> str:
        """The program with its words that the decision is about; empty where it is the action."""
        first = self.findings[0] if self.findings else None
        return first.command if first is not None and first.invocation is not None else ""

    @property
    def programs_asked(self) -> tuple[Finding, ...] | None:
        """The programs that need a permission; None where something else stands in the way."""
        asking = [one for one in self.findings if one.decision.outcome is Outcome.ASK]
        programs = all(one.invocation is not None and not one.privileged for one in asking)
        alone = self.decision.outcome is Outcome.ASK and programs
        return tuple(asking) if alone else None

    @property
    def asked(self) -> tuple[Decision, ...]:
        """The decision that holds, and each further permission that is needed."""
        if self.decision.outcome is not Outcome.ASK:
            return (self.decision,)
        asked: dict[str | None, Decision] = {}
        for finding in self.findings:
            if finding.decision.outcome is Outcome.ASK:
                asked.setdefault(finding.decision.scope, finding.decision)
        return tuple(asked.values())


def nobody(_: str) -> str | None:
    """Identify no file: where nothing is known of a container's files."""
    return None


class Rulebook:
    """A policy's rules, ready to be applied to a worktree's actions and processes."""

    def __init__(self, policy: Policy, root: str, table: Table | None = None) -> None:
        self.root, self.table = root, table or shipped()
        self._matcher = Matcher(root, self.table)
        self._actions = [rule for rule in policy.rules if not rule.when.about_processes]
        self._processes = [rule for rule in policy.rules if rule.when.about_processes]

    def action(self, subject: Subject) -> Judgement:
        """Judge an action, a shell line by its text too. No rule that matches: it is allowed."""
        findings = [_first(self._actions, lambda rule: self._by_action(rule, subject))]
        if subject.command is not None:
            cwd = normpath(join(self.root, subject.cwd))
            for found in programs(subject.command, self.table, cwd):
                process = Process(
                    found.started, subject.action, found.ancestors, privileged=found.privileged
                )
                findings += self._findings(process, nobody, by_name=True)
        return _strictest(findings)

    def process(self, process: Process, identify: Identify, *, by_name: bool = False) -> Judgement:
        """Judge a process, by everything that its program may be.

        A program that only goes by its name is not allowed by name: anybody can call a file so.
        With `by_name` it is, where no file can be looked at.
        """
        return _strictest(self._findings(process, identify, by_name=by_name))

    def _by_action(self, rule: PolicyRule, subject: Subject) -> Fields | None:
        """Match an action; what cannot be told is taken for what no rule allows."""
        undecided = rule.decision is not Outcome.ALLOW
        return self._matcher.action(rule.when, subject, undecided=undecided)

    def knows(self, name: str) -> bool:
        """Whether a file of this name may be told apart by its content: a rule speaks of it."""
        program = self.table.find(name)
        if program.runs or program.multi_call:
            return True
        return any(self._matcher.speaks_of(rule.when, program) for rule in self._processes)

    def _findings(self, process: Process, identify: Identify, *, by_name: bool) -> list[Finding]:
        started = [one for one in (process.started, process.interpreter) if one is not None]
        read = [one for each in started for one in readings(each, self.table, identify)]
        found = [self._finding(self._processes, process, one, by_name=by_name) for one in read]
        if process.privileged:
            found.append(self._as_root(process, read, by_name=by_name))
        return found

    def _as_root(self, process: Process, read: list[Invocation], *, by_name: bool) -> Finding:
        """Judge whether it may be root: by the strictest rule that says so of any reading."""
        rules = [rule for rule in self._processes if rule.when.privileged]
        found = [self._finding(rules, process, one, by_name=by_name) for one in read]
        said = _strictest([one for one in found if one.decision.rule is not None]).findings
        none = Finding(NO_ROOT, invocation=read[0] if read else None, ancestors=process.ancestors)
        return replace(said[0] if said else none, privileged=True)

    def _finding(
        self, rules: Iterable[PolicyRule], process: Process, reading: Invocation, *, by_name: bool
    ) -> Finding:
        if not (by_name or reading.proven) or reading.truncated:
            rules = filter(_safe, rules)
        first = _first(rules, lambda rule: self._matcher.process(rule.when, process, reading))
        return replace(first, invocation=reading, ancestors=process.ancestors)


def _safe(rule: PolicyRule) -> bool:
    """Whether a rule may decide on a program that only goes by its name."""
    return rule.decision is not Outcome.ALLOW or rule.when.program in (None, ("*",))


def _first(rules: Iterable[PolicyRule], match: Callable[[PolicyRule], Fields | None]) -> Finding:
    for rule in rules:
        fields = match(rule)
        if fields is not None:
            decision = Decision(
                outcome=rule.decision, rule=rule.id, scope=rule.scope, reason=rule.reason
            )
            return Finding(decision, fields)
    return Finding(ALLOWED)


def _strictest(findings: list[Finding]) -> Judgement:
    """Put the strictest first; a rule that allows goes before no rule at all."""

    def order(finding: Finding) -> tuple[int, bool]:
        return STRICTNESS.index(finding.decision.outcome), finding.decision.rule is None

    return Judgement(tuple(sorted(findings, key=order)))
