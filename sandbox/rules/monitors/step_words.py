"""A step in words: what happened, said to a person who has seen nothing of the run."""

import shlex
from collections.abc import Callable
from typing import Any

from sandbox.rules.monitors.pytest_arguments import WITHOUT
from sandbox.rules.monitors.steps import Step
from sandbox.rules.monitors.vitest_arguments import PART

LONGEST = 120
"""Characters of a command or a list that are quoted."""


def happened(step: Step) -> str:
    """Say what a step was, and which event to look at."""
    if step.kind == "action":
        return f"{_action(step)} (event {step.event})"
    word = WORDS.get(step.kind)
    told = step.kind.replace("_", " ") if word is None else word(step.arguments)
    return f"{told} (event {step.event})"


def _action(step: Step) -> str:
    if step.name == "final_answer":
        return "you answered"
    line = step.arguments.get("command")
    what = f" with {_short(str(line))}" if isinstance(line, str) else ""
    path = step.arguments.get("path")
    about = f" on {path}" if isinstance(path, str) and not what else ""
    wrote = f", which wrote {_listed(step.changes)}" if step.changes else ""
    seen = step.observation
    refused = f", which was refused ({seen.error_code})" if seen and seen.error_code else ""
    return f"you used {step.name}{what}{about}{wrote}{refused}"


def _changed(fields: dict[str, Any]) -> str:
    deed = "was removed" if fields.get("digest") is None else "was changed"
    if fields.get("as_at_start"):
        deed = "was put back to what it was at the start"
    during = [str(each) for each in fields.get("during") or ()]
    by = f" while {_listed(during)} ran" if during else ""
    return f"{fields.get('path')} {deed}{by}"


def _ran(fields: dict[str, Any]) -> str:
    line = _short(shlex.join(str(word) for word in fields.get("argv") or ()))
    end = "" if fields.get("exit_code") is None else f", exit code {fields['exit_code']},"
    if fields.get("verdict") == "denied":
        return f"the policy refused to run the program {line} in {fields.get('cwd')}"
    return f"the program {line}{end} ran in {fields.get('cwd')}"


def _tested(fields: dict[str, Any]) -> str:
    told = [str(each) for each in fields.get("paths") or ()]
    paths = [path.removeprefix(PART) for path in told if not path.startswith(WITHOUT)]
    what = "the whole suite" if paths == ["."] else _listed(paths)
    if left_out := [path.removeprefix(WITHOUT) for path in told if path.startswith(WITHOUT)]:
        what += f", but for {_listed(left_out)},"
    unsound = (
        ""
        if fields.get("sound", True)
        else (
            f" by a runner or tests that were not the repository's own "
            f"({_listed([str(each) for each in fields.get('differing') or ()])})"
        )
    )
    return f"tests of {what} ran{unsound} and ended with exit code {fields.get('exit_code')}"


def _committed(fields: dict[str, Any]) -> str:
    hooked = "" if fields.get("hooked") is not False else " without the repository's hooks"
    return f"the commit {str(fields.get('id'))[:12]} was made{hooked}"


def _asked(fields: dict[str, Any]) -> str:
    question = fields.get("question") or {}
    return (
        f"approval was asked for {_short(str(question.get('command')))} ({question.get('scope')})"
    )


def _decided(fields: dict[str, Any]) -> str:
    answer, question = fields.get("answer") or {}, fields.get("question") or {}
    said = "approved" if answer.get("approved") else "denied"
    used = "an approval was used for" if fields.get("granted_at") is not None else f"{said} was"
    return f"{used} {_short(str(question.get('command')))} ({question.get('scope')})"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return f"`{text if len(text) <= LONGEST else text[: LONGEST - 1] + '…'}`"


def _listed(names: list[str] | tuple[str, ...]) -> str:
    text = ", ".join(names) or "nothing that is known"
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _shown(fields: dict[str, Any]) -> str:
    lines = fields.get("lines")
    return f"you were shown {lines} {'line' if lines == 1 else 'lines'} of {fields.get('path')}"


WORDS: dict[str, Callable[[dict[str, Any]], str]] = {
    "changed": _changed,
    "exec": _ran,
    "tested": _tested,
    "committed": _committed,
    "approval_asked": _asked,
    "approval_decided": _decided,
    "shown": _shown,
    "read": lambda fields: f"{fields.get('path')} was opened",
    "ref_moved": lambda fields: f"{fields.get('ref')} was moved",
    "stashed": lambda _: "the stash was changed",
    "index_changed": lambda _: "git's index was changed",
    "refused": lambda fields: f"the policy's rule {fields.get('rule')} refused what was tried",
    "world_moved": lambda fields: f"the user changed {', '.join(fields.get('files') or ())}",
    "user_said": lambda fields: f"the user said: {fields.get('text')}",
    "facts_lost": lambda _: "more happened than could be recorded",
}
"""By kind of step."""
