"""Calls: actions joined with their results by id, spelt in one way, with the state before each.

The state is a digest of what came before and changed something: files that were written, commands
that write and succeeded, permissions that were granted. Reads leave it as it is.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from posixpath import normpath

from pydantic import JsonValue, ValidationError

from sandbox.grading.metrics import risks, shell
from sandbox.model.action import ACTIONS, SHELL, ApplyPatch, WriteFile
from sandbox.model.decision import Answer, Decision, Question
from sandbox.model.event import (
    ActionTaken,
    ApprovalDecided,
    Entry,
    Event,
    ExecsLost,
    Executed,
    FaultInjected,
    FilesChanged,
    MilestonePassed,
    Observed,
    RunStarted,
)
from sandbox.model.fact import Changed, Refused
from sandbox.model.observation import ErrorCode, Observation
from sandbox.model.patch_text import names

NOT_UNDERSTOOD = (ErrorCode.BAD_REQUEST, ErrorCode.BAD_ARGUMENTS, ErrorCode.UNKNOWN_TOOL)
RETRYABLE = (ErrorCode.TIMEOUT, ErrorCode.NO_PROCESSES)
"""What may go away by itself."""


@dataclass(frozen=True, slots=True)
class Call:
    """One step of a run."""

    event: int
    """The sequence number of the action's entry."""
    name: str
    arguments: dict[str, JsonValue]
    decision: Decision | None
    observation: Observation | None = None
    """None where the run ended before there was one."""
    writes: tuple[str, ...] = ()
    """Paths of the worktree that it wrote, whichever of its programs did; what came and went again
    within it is left out."""
    refused: bool = False
    """Whether a program that it started was refused."""
    risked: bool | None = None
    """Whether a program that ran in it was irreversible, external or privileged; None where not
    all of them were seen."""
    question: Question | None = None
    answer: Answer | None = None
    """The approver's, where the call asked for it."""
    granted: bool = False
    """Whether it used a permission that was granted before."""
    injected: bool = False
    """Whether a fault of the task's world befell it."""
    milestone: bool = False
    """Whether a milestone was reached with it."""
    broke: bool = False
    """Whether a rule was broken by it."""
    signature: str = ""
    """Action and canonical arguments."""
    state: str = ""
    """Digest of the state before it."""

    @property
    def code(self) -> ErrorCode | None:
        """Why it was not carried out."""
        return None if self.observation is None else self.observation.error_code

    @property
    def succeeded(self) -> bool:
        """Whether it was carried out and, if a command, exited with 0."""
        seen = self.observation
        return seen is not None and seen.status == "ok" and seen.result.get("exit_code", 0) == 0

    @property
    def understood(self) -> bool:
        """Whether the request was valid by its schema."""
        return self.decision is not None and self.code not in NOT_UNDERSTOOD

    @property
    def line(self) -> str | None:
        """The shell line that it runs."""
        command = self.arguments.get("command")
        return command if self.name in SHELL and isinstance(command, str) else None

    @property
    def proposed(self) -> tuple[str, ...]:
        """The files that it would write, or wrote."""
        path, patch = self.arguments.get("path"), self.arguments.get("patch")
        if self.name == WriteFile.name and isinstance(path, str):
            return (normpath(path),)
        if self.name == ApplyPatch.name and isinstance(patch, str):
            return tuple(map(normpath, names(patch)))
        return self.writes

    @property
    def verifies(self) -> bool:
        """Whether it runs tests."""
        programs = shell.parse(self.line) if self.line else ()
        return self.name == "run_tests" or any(each.program in shell.TESTERS for each in programs)


def calls(
    entries: Iterable[Entry], broken: Iterable[int] = (), test_command: str = ""
) -> list[Call]:
    """Give a run's calls in order; `broken` are the events at which rules were broken."""
    events = set(broken)
    found: list[Call] = []
    latest: dict[str | None, int] = {}
    writes: defaultdict[int, dict[str, None]] = defaultdict(dict)
    ran: defaultdict[int, list[Executed]] = defaultdict(list)
    unseen: set[int] = set()
    sees = False
    for entry in entries:
        if isinstance(entry.event, RunStarted):
            sees = entry.event.coverage != "top-level"
        elif isinstance(entry.event, ActionTaken):
            latest[entry.action_id] = len(found)
            found.append(_opened(entry, entry.event, events, test_command))
        elif entry.action_id in latest:
            position = latest[entry.action_id]
            _note_writes(entry.event, writes[position])
            if isinstance(entry.event, Executed):
                ran[position].append(entry.event)
            elif isinstance(entry.event, ExecsLost):
                unseen.add(position)
            joined = _joined(found[position], entry)
            found[position] = (
                joined if entry.sequence not in events else replace(joined, broke=True)
            )
    return _with_states(
        [
            replace(
                call,
                writes=tuple(writes[position]),
                risked=risks.any_risk(ran[position]) if sees and position not in unseen else None,
            )
            for position, call in enumerate(found)
        ]
    )


def signature(name: str, arguments: dict[str, JsonValue]) -> str:
    """Spell a call in one way: defaults filled in, paths normal, keys in order."""
    spelt: dict[str, JsonValue] = dict(arguments)
    if kind := ACTIONS.get(name):
        try:
            spelt = kind.model_validate(arguments).model_dump(mode="json")
        except ValidationError:
            spelt = dict(arguments)
    for key in ("path", "cwd"):
        value = spelt.get(key)
        if isinstance(value, str):
            spelt[key] = normpath(value)
    return json.dumps([name, spelt], sort_keys=True, separators=(",", ":"))


def completed(
    name: str, arguments: dict[str, JsonValue], test_command: str
) -> dict[str, JsonValue]:
    """Fill in the task's own command where a call leaves out which tests it runs."""
    if name == "run_tests" and arguments.get("command") is None and test_command:
        return {**arguments, "command": test_command}
    return arguments


def _opened(entry: Entry, taken: ActionTaken, broken: set[int], test_command: str) -> Call:
    arguments = completed(taken.name, taken.arguments, test_command)
    return Call(
        event=entry.sequence,
        name=taken.name,
        arguments=arguments,
        decision=taken.decision,
        broke=entry.sequence in broken,
        signature=signature(taken.name, arguments),
    )


def _joined(call: Call, entry: Entry) -> Call:
    event = entry.event
    match event:
        case Observed(observation=observation):
            return replace(call, observation=observation)
        case Refused(by="process"):
            return replace(call, refused=True)
        case ApprovalDecided(granted_at=None):
            return replace(call, question=event.question, answer=event.answer)
        case ApprovalDecided():
            return replace(call, granted=True)
        case MilestonePassed(reached=True):
            return replace(call, milestone=True)
        case FaultInjected():
            return replace(call, injected=True)
    return call


def _note_writes(event: Event, written: dict[str, None]) -> None:
    """Keep what a call has written; what came and went in it is none of that."""
    match event:
        case FilesChanged(paths=paths):
            written.update(dict.fromkeys(paths))
        case Changed(path=path, digest=None, as_at_start=True):
            written.pop(path, None)
        case Changed(path=path):
            written[path] = None


def _with_states(joined: list[Call]) -> list[Call]:
    state = hashlib.sha256(b"").hexdigest()
    found = []
    for call in joined:
        found.append(replace(call, state=state))
        if _changes(call):
            state = hashlib.sha256(f"{state}\n{call.signature}".encode()).hexdigest()
    return found


def _changes(call: Call) -> bool:
    if call.writes or (call.answer is not None and call.answer.approved):
        return True
    return call.line is not None and call.succeeded and not shell.reads_only(call.line)
