"""The programs that an action's commands start, and facts among them, as events of the trace."""

import threading
import time
from dataclasses import dataclass
from typing import Literal

from sandbox.model import path_text as paths
from sandbox.model.action import ACTIONS, RunAgent
from sandbox.model.decision import Decision, Outcome
from sandbox.model.event import ApprovalDecided, ExecsLost, Executed
from sandbox.model.fact import Changed, Fact, Refused
from sandbox.model.session import EXECS_TOLD, Exec, ExecEnd, ExecObserver, ExecOutcome
from sandbox.rules.policy.grants import Grant
from sandbox.rules.policy.rules import NO_ROOT
from sandbox.run.actions.gatekeeper import Gatekeeper, Held

ARGUMENTS_LENGTH = 2000
"""Characters of all arguments of a program that are recorded."""

ExecEvent = Executed | ExecsLost | ApprovalDecided | Fact


@dataclass(slots=True)
class _Execution:
    seen: Exec
    held: Held
    began: float
    end: ExecEnd | None = None


@dataclass(slots=True)
class _Counts:
    """What belongs to one action and was not taken yet, by number."""

    kept: int = 0
    lost: int = 0
    unseen: int = 0


class Executions(ExecObserver):
    """Collects execs until they are taken; lets run what a gatekeeper, if there is one, does."""

    def __init__(self, gatekeeper: Gatekeeper | None = None, started: float | None = None) -> None:
        """`started` is when the run began, by the monotonic clock."""
        self._gatekeeper = gatekeeper
        self._started = time.monotonic() if started is None else started
        self._lock = threading.Lock()
        self._items: list[tuple[str, _Execution | Fact]] = []
        self._counts: dict[str, _Counts] = {}
        self._open: dict[int, _Execution] = {}

    def seen(self, execution: Exec) -> int:
        """Keep it, or count it where there are too many."""
        began = round(time.monotonic() - self._started, 6)
        held = Held()
        if self._gatekeeper is not None and not execution.problem:
            held = self._gatekeeper.decide(execution)
        elif execution.privileged:
            held = Held(NO_ROOT, refused=True, reason=NO_ROOT.reason)
        kept = _Execution(execution, held, began)
        with self._lock:
            counts = self._counts.setdefault(execution.tag, _Counts())
            if counts.kept >= EXECS_TOLD and not held.refused:
                counts.lost += 1
            else:
                counts.kept += 1
                self._items.append((execution.tag, kept))
                self._open[execution.number] = kept
        return held.answer

    def reason(self, execution: Exec) -> str:
        """Say why one that asked to be root was refused."""
        with self._lock:
            kept = self._open.get(execution.number)
        return kept.held.reason if kept is not None else ""

    def ended(self, execution: Exec, end: ExecEnd) -> None:
        """Keep how it ended, unless it was taken before."""
        if self._gatekeeper is not None:
            self._gatekeeper.ended(execution, end)
        with self._lock:
            kept = self._open.pop(execution.number, None)
            if kept is not None:
                kept.end = end

    def lost(self, tag: str, count: int, *, unseen: bool = False) -> None:
        """Count them."""
        with self._lock:
            counts = self._counts.setdefault(tag, _Counts())
            if unseen:
                counts.unseen += count
            else:
                counts.lost += count

    def note(self, fact: Fact, tag: str) -> None:
        """Keep a fact in its place among the execs."""
        with self._lock:
            self._items.append((tag, fact))

    def take(
        self, action: str = "", changed: tuple[str, ...] = (), *, ongoing: bool = False
    ) -> list[tuple[ExecEvent, str | None]]:
        """Give the events that there are, each with its action's id, in order; forget them.

        `action` is the name of the present one, which wrote what is `changed`. What still runs has
        no end, now and later. Of an action that is `ongoing` the count of its execs goes on.
        """
        with self._lock:
            items, self._items = self._items, []
            counts, self._counts = self._counts, {}
            if ongoing:
                self._counts = {tag: _Counts(each.kept) for tag, each in counts.items()}
            else:
                self._open.clear()
        kind = RunAgent if action == RunAgent.name else ACTIONS.get(action)
        by_harness = kind is not None and kind.by_harness
        events: list[tuple[ExecEvent, str | None]] = []
        for tag, each in items:
            if isinstance(each, _Execution):
                events += [(use_of(grant), tag or None) for grant in each.held.used]
                event = _event(each, by_harness=by_harness)
                events.append((event, tag or None))
                if (fact := refused_by(each.held.decision, "process")) is not None:
                    events.append((fact, tag or None))
            elif isinstance(each, Changed) and each.path in changed:
                events.append((each.model_copy(update={"by": "action"}), tag or None))
            else:
                events.append((each, tag or None))
        for tag, count in counts.items():
            if count.lost:
                events.append((ExecsLost(count=count.lost), tag or None))
            if count.unseen:
                events.append((ExecsLost(count=count.unseen, unseen=True), tag or None))
        return events


def refused_by(decision: Decision | None, by: Literal["action", "process"]) -> Refused | None:
    """The fact that the policy has refused something, where it has."""
    if decision is None or decision.outcome is not Outcome.DENY:
        return None
    return Refused(rule=decision.rule or "", by=by)


def use_of(grant: Grant) -> ApprovalDecided:
    """What the trace says of the use of a grant."""
    return ApprovalDecided(
        question=grant.question, answer=grant.answer, granted_at=grant.granted_at
    )


def _event(execution: _Execution, *, by_harness: bool) -> Executed:
    """What the trace says of an exec."""
    seen, end, held = execution.seen, execution.end, execution.held
    arguments, whole = _arguments(seen.arguments)
    return Executed(
        program=paths.text(seen.program),
        path=paths.text(seen.resolved),
        argv=arguments,
        truncated=seen.truncated or not whole,
        cwd=paths.text(seen.cwd),
        pid=seen.pid,
        parent=seen.parent,
        uid=seen.uid,
        verdict="denied" if held.refused else _verdict(seen, end),
        exit_code=end.exit_code if end else None,
        signal=end.signal if end else None,
        began=execution.began,
        duration=end.seconds if end else None,
        decision=held.decision,
        by_harness=by_harness and seen.first,
    )


def _verdict(
    seen: Exec, end: ExecEnd | None
) -> Literal["allowed", "denied", "mismatch", "unreadable"]:
    if seen.problem:
        return "unreadable"
    if end is None:
        return "allowed"
    if end.outcome is ExecOutcome.MISMATCH:
        return "mismatch"
    return "denied" if end.outcome in (ExecOutcome.REFUSED, ExecOutcome.GONE) else "allowed"


def _arguments(arguments: tuple[bytes, ...]) -> tuple[tuple[str, ...], bool]:
    """Give them as text, and whether that is all of them."""
    kept: list[str] = []
    left = ARGUMENTS_LENGTH
    for argument in arguments:
        text = paths.text(argument)
        if len(text) > left:
            return (*kept, text[:left]), False
        kept.append(text)
        left -= len(text)
    return tuple(kept), True
