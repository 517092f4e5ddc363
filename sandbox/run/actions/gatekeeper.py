"""Decides on each process that an action starts, while it is held."""

import errno
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from sandbox.container.engines.base import Session
from sandbox.model import path_text as paths
from sandbox.model.decision import Decision, Outcome, Question
from sandbox.model.observation import ErrorCode, Observation
from sandbox.model.session import Exec, ExecEnd, ExecOutcome
from sandbox.model.shell.reader import Started
from sandbox.rules.policy import sequencer
from sandbox.rules.policy.gate import permit, unanswered
from sandbox.rules.policy.grants import Grant, Grants
from sandbox.rules.policy.lineage import Lineage, Lineages
from sandbox.rules.policy.rules import ALLOWED, Judgement, Rulebook
from sandbox.rules.policy.subject import Process
from sandbox.run.actions.identities import Identities, Looked

_SHOWN = 3
"""Names of ancestors that an agent is told."""

Ask = Callable[[Question, str], object]
"""Puts a question to the approver and keeps the answer among the grants; with the action's tag."""


Used = Callable[[tuple[Grant, ...], str], object]
"""Is told of grants that a process has used, before it runs; with the action's tag."""

Released = Callable[[str], object]
"""Is told that no process lives any more that has used a grant; with the action's tag."""


@dataclass(frozen=True, slots=True)
class Held:
    """What was decided on a process."""

    decision: Decision | None = None
    """None where no rule has anything to say."""
    used: tuple[Grant, ...] = ()
    """Grants that it used, not those of the action or of an ancestor."""
    refused: bool = False
    reason: str = ""
    """Why it is refused."""

    @property
    def answer(self) -> int:
        """The errno with which it is refused, 0 where it runs."""
        return errno.EACCES if self.refused else 0


@dataclass(slots=True)
class _Action:
    name: str
    grants: tuple[Grant, ...]
    refusals: list[Observation]


class Gatekeeper:
    """Decides by the rules and the grants of a run; `decide` and `ended` are called in order."""

    def __init__(
        self,
        session: Session,
        rulebook: Rulebook,
        grants: Grants,
        ask: Ask | None = None,
        used: Used = lambda _grants, _tag: None,
        released: Released = lambda _tag: None,
    ) -> None:
        self._session, self._rulebook, self._grants = session, rulebook, grants
        self._ask, self._used, self._released = ask, used, released
        self._users: set[int] = set()
        """The processes that have used a grant of their own and live."""
        self._identities = Identities(session)
        self._lineages = Lineages(self._parent_of)
        self._actions: dict[str, _Action] = {}
        self._lock = threading.Lock()

    def learn(self) -> None:
        """Look at the image's programs; to be done before the agent can change any."""
        self._identities.learn(self._rulebook.knows)

    def begin(self, tag: str, name: str, grants: tuple[Grant, ...]) -> None:
        """Begin an action, whose grants hold for all that it starts."""
        with self._lock:
            self._actions[tag] = _Action(name, grants, [])

    def finish(self, tag: str, observation: Observation) -> Observation:
        """Say in an action's observation what was refused meanwhile; its result stays."""
        with self._lock:
            refusals = self._actions[tag].refusals
            self._actions[tag].refusals = []
        if not refusals:
            return observation
        # What was denied has a fact of its own; that a permission was missing is told here alone.
        first = min(refusals, key=lambda one: one.error_code is ErrorCode.POLICY_DENIED)
        others = len({one.message for one in refusals}) - 1
        more = f" {others} more were refused." if others else ""
        before = f"{observation.message} " if observation.message else ""
        return observation.model_copy(
            update={
                "status": "error",
                "error_code": observation.error_code or first.error_code,
                "message": f"{before}{first.message}{more}",
            }
        )

    def decide(self, execution: Exec) -> Held:
        """Decide on a process that is held; the harness's own shell is the action's, not its."""
        with self._lock:
            action = self._actions.get(execution.tag)
        if action is None:
            action = _Action("", (), [])
        process, lineage = self._process(execution, action.name)
        if execution.first:
            held = Held()
        else:
            judgement = self._judge(process)
            held = self._answer(judgement, process, lineage, action, execution.tag)
        if held.used:
            self._users.add(execution.pid)
        if not held.refused:
            self._lineages.add(
                execution.number,
                execution.tag,
                execution.pid,
                _name(process.started),
                replace(lineage, grants=(*lineage.grants, *held.used)),
                sequences=sequencer.sequences(process.started),
            )
        return held

    def ended(self, execution: Exec, end: ExecEnd) -> None:
        """Forget a process that has ended."""
        if end.outcome is ExecOutcome.REPLACED:
            return
        self._lineages.end(execution.number, execution.pid)
        if execution.pid in self._users:
            self._users.remove(execution.pid)
            if not self._users:
                self._released(execution.tag)

    def _process(self, execution: Exec, action: str) -> tuple[Process, Lineage]:
        lineage = self._lineages.of(execution.tag, execution.pid, execution.parent)
        arguments = tuple(map(os.fsdecode, execution.arguments))
        started = Started(
            program=paths.text(execution.program),
            words=arguments[1:],
            called=arguments[0] if arguments else "",
            resolved=paths.text(execution.resolved),
            cwd=paths.text(execution.cwd),
            truncated=execution.truncated,
        )
        if lineage.sequenced and sequencer.is_own(started):
            started = sequencer.as_asked(started)
        process = Process(started, action, lineage.ancestors, privileged=execution.privileged)
        return process, lineage

    def _judge(self, process: Process) -> Judgement:
        """Judge it; a script that is not known, by what its first line starts too."""
        started = process.started
        looked = self._identities.look(started.resolved) if started.resolved else Looked()

        def identify(path: str) -> str | None:
            return looked.name if path == started.resolved else self._identities.identify(path)

        line = looked.interpreter
        if line:
            script = os.fsdecode(paths.raw(started.program))
            interpreter = replace(
                started,
                program=paths.text(os.fsencode(line[0])),
                called=line[0],
                words=(*line[1:], script, *started.words),
                resolved=paths.text(os.fsencode(line[0])),
            )
            process = replace(process, interpreter=interpreter)
        return self._rulebook.process(process, identify)

    def _answer(
        self, judgement: Judgement, process: Process, lineage: Lineage, action: _Action, tag: str
    ) -> Held:
        if judgement.decision == ALLOWED:
            return Held()
        held = {grant.question.scope for grant in (*action.grants, *lineage.grants)}
        lacking = [one for one in judgement.asked if one.scope is None or one.scope not in held]
        line = judgement.findings[0].command
        if process.privileged:
            line = f"sudo {line}"
        if self._ask is not None and judgement.decision.outcome is Outcome.ASK:
            for question in unanswered(lacking, line, self._grants):
                by = {"started_by": process.ancestors, "effect": _runs(process.started)}
                self._ask(question.model_copy(update=by), tag)
        used = permit(lacking, line, self._grants)
        if not isinstance(used, Observation):
            self._used(used, tag)
            return Held(judgement.decision, used)
        with self._lock:
            action.refusals.append(_told(used, line, process))
        return Held(judgement.decision, refused=True, reason=used.message or "")

    def _parent_of(self, pid: int) -> int | None:
        """Read a process's parent; the supervisor is nobody's."""
        with suppress(OSError, ValueError, IndexError):
            status = self._session.read(f"/proc/{pid}/stat")
            parent = int(status.rpartition(b")")[2].split()[1])
            return parent if parent > 1 else None
        return None


def _name(started: Started) -> str:
    return (started.resolved or started.program).rpartition("/")[2]


def _runs(started: Started) -> str:
    """Say which file runs, and where; what it would change is not known."""
    return f"runs {started.resolved or started.program}\nin {started.cwd}"


def _told(refusal: Observation, line: str, process: Process) -> Observation:
    """Say which process was refused, and who wanted it."""
    by = ", ".join(process.ancestors[:_SHOWN])
    what = f"The program {line!r}{f', started by {by},' if by else ''} was not run. "
    return refusal.model_copy(update={"message": what + (refusal.message or "")})
