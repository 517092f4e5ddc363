"""Who answers in a run: what `--approver` names, and a person at the terminal."""

import os
import select
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, ClassVar

from sandbox.cli.terminal import line
from sandbox.model.decision import Answer, Answers, Question
from sandbox.model.errors import UsageError

if TYPE_CHECKING:
    from sandbox.model.task import Task
    from sandbox.rules.policy.approvers import Approver

PATIENCE = 120.0
"""Seconds until a question that nobody answers is denied."""

HELP = "`script` (the task's own), `terminal`, `allow`, `deny`, or a YAML file with an `approver`."
_LONGEST = 4096
_ROWS = 60


class TerminalApprover:
    """Asks a person: once, for the run, or deny with a reason. Silence denies."""

    name = "terminal"
    asked_at_once: ClassVar[bool] = True

    def __init__(self, terminal: IO[bytes], seconds: float = PATIENCE) -> None:
        self._terminal, self._seconds = terminal, seconds

    def answer(self, question: Question) -> Answer:
        """Show what is wanted and by whom, and wait for an answer that can be understood."""
        end = time.monotonic() + self._seconds
        self._say(*_shown(question))
        while True:
            self._say(f"once, run, or deny REASON ({self._seconds:g} s, then deny)? ", end="")
            said = self._line(end)
            if said is None:
                self._say("", "denied: nobody answered")
                return Answer(approved=False, reason="Nobody answered.")
            word, _, reason = said.strip().partition(" ")
            match word.lower():
                case "o" | "once" | "y" | "yes":
                    return Answer(approved=True, reason="A person allowed it once.")
                case "r" | "run":
                    return Answer(
                        approved=True, reason="A person allowed it for the run.", lasts="run"
                    )
                case "d" | "deny" | "n" | "no":
                    return Answer(approved=False, reason=reason.strip() or "A person denied it.")

    def _line(self, end: float) -> str | None:
        """Read a line; None at the end of the input, or of the time."""
        read = b""
        while b"\n" not in read and len(read) < _LONGEST:
            left = max(0.0, end - time.monotonic())
            if not select.select([self._terminal], [], [], left)[0]:
                return None
            part = os.read(self._terminal.fileno(), _LONGEST)
            if not part:
                return None
            read += part
        return read.partition(b"\n")[0].decode("utf-8", "replace")

    def _say(self, *rows: str, end: str = "\n") -> None:
        self._terminal.write(("\n".join(rows) + end).encode())
        self._terminal.flush()


def _shown(question: Question) -> list[str]:
    rows = ["", f"wanted: {line(question.scope)}", f"  for     {line(question.command)}"]
    if question.started_by:
        rows.append(f"  from    {', '.join(map(line, question.started_by))}")
    if question.reason:
        rows.append(f"  because {line(question.reason)}")
    if not question.effect:
        return [*rows, "  does    what is not known beforehand"]
    effect = question.effect.split("\n")
    rows += [f"  | {line(row)}" for row in effect[:_ROWS]]
    if len(effect) > _ROWS:
        rows.append(f"  … {len(effect) - _ROWS} more lines, which are not shown")
    return rows


def choose_approver(text: str, task: "Task") -> "Approver":
    """Make an approver of what `--approver` says; UsageError where it says nothing known."""
    from sandbox.model.documents import load
    from sandbox.rules.policy.approvers import AllowAll, DenyAll, ScriptedApprover

    match text:
        case "script":
            return ScriptedApprover(task.policy)
        case "allow":
            return AllowAll()
        case "deny":
            return DenyAll()
        case "terminal":
            return TerminalApprover(_terminal())
    if text.endswith((".yaml", ".yml")):
        return ScriptedApprover(load(Path(text), Answers), text)
    raise UsageError(f"There is no approver {text!r}.", f"Known are {HELP}")


def _terminal() -> IO[bytes]:
    try:
        return Path("/dev/tty").open("r+b", buffering=0)
    except OSError as error:
        raise UsageError(
            "There is no terminal to ask a person at.", "Choose another --approver."
        ) from error
