"""What distinguishes one event of a trace, in a line."""

from typing import TYPE_CHECKING, Any

from sandbox.cli.terminal import line
from sandbox.model.patch_text import names

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.model.event import (
        ActionTaken,
        ApprovalDecided,
        Event,
        Executed,
        MilestonePassed,
        ModelRequested,
        NetworkConnected,
        Observed,
    )
    from sandbox.model.fact import Changed, Committed, Tested

SHOWN = 60
"""Characters of an action's arguments on its progress line."""


def told(event: "Event") -> str:
    """Say of an event what its kind does not say already; empty where that is nothing."""
    return TELLING[event.kind](event) if event.kind in TELLING else ""


def described(event: "ActionTaken") -> str:
    """Name an action and what distinguishes it."""
    return f"{line(event.name)} {gist(event)}"


def gist(event: "ActionTaken") -> str:
    """Say what distinguishes an action from others of its name."""
    telling = [
        str(event.arguments[name])
        for name in ("path", "command", "question", "pattern", "tool", "scope", "patch", "fields")
        if event.arguments.get(name) is not None
    ]
    text = line(telling[0]) if telling else ""
    if event.name == "apply_patch":
        text = ", ".join(map(line, names(str(event.arguments.get("patch", "")))))
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _action(event: "ActionTaken") -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in event.arguments.items())
    decided = event.decision.outcome if event.decision else "not understood"
    return f"{event.name}({arguments}) [{decided}]"


def _observation(event: "Observed") -> str:
    seen = event.observation
    return f"{event.name}: {seen.error_code or seen.status} {seen.message or ''}".rstrip()


def _approval(event: "ApprovalDecided") -> str:
    answer = "granted" if event.answer.approved else "denied"
    answer = answer if event.granted_at is None else f"granted at {event.granted_at}, used."
    return f"{event.question.scope}: {answer} {event.answer.reason}"


def _exec(event: "Executed") -> str:
    rule = event.decision.rule if event.decision else None
    by = f" by {rule}" if rule and event.verdict == "denied" else ""
    how = "" if event.verdict == "allowed" else f" [{event.verdict}{by}]"
    return f"{' '.join(event.argv) or event.program}{how}"


def _network(event: "NetworkConnected") -> str:
    failed = f", but failed: {event.problem}" if event.problem else ""
    return f"{event.scope} granted at {event.granted_at}, port {event.port}{failed}"


def _model(event: "ModelRequested") -> str:
    failed = f", {event.problem}" if event.problem else ""
    return f"{event.method} {event.path}: {event.status}, {event.size} bytes{failed}"


def _milestone(event: "MilestonePassed") -> str:
    word = "reached" if event.reached else "undone"
    return f"{event.milestone} {word}, progress {event.progress:.0%}"


def _short(value: str | None) -> str:
    return "nothing" if value is None else value[:12] if len(value) == 40 else value


def _changed(event: "Changed") -> str:
    done = "is gone" if event.digest is None else "changed" if event.before else "is new"
    if event.as_at_start:
        done = "is again as at the start"
    return f"{event.path} {done}, by {'an' if event.by == 'action' else 'a'} {event.by}"


def _tested(event: "Tested") -> str:
    sound = "" if event.sound else f", proves nothing: {', '.join(event.differing[:3])} differs"
    return f"{' '.join(event.paths)}: exit {event.exit_code}{sound}"


def _committed(event: "Committed") -> str:
    hooks = ", ".join(event.hooks) or "no hooks"
    return f"{event.id[:12]} on {event.ref}: {', '.join(event.paths)}; {hooks} asked"


TELLING: "dict[str, Callable[[Any], str]]" = {
    "run_started": lambda event: f"{event.task} by {event.agent}, sees {event.coverage} processes",
    "action": _action,
    "observation": _observation,
    "approval_asked": lambda event: f"{event.question.scope}: {event.question.command}",
    "approval_decided": _approval,
    "files_changed": lambda event: ", ".join(event.paths),
    "exec": _exec,
    "changed": _changed,
    "shown": lambda event: f"{event.path}: {event.seen} of {event.total} lines by now",
    "read": lambda event: event.path,
    "tested": _tested,
    "committed": _committed,
    "ref_moved": lambda event: f"{event.ref}: {_short(event.before)} -> {_short(event.after)}",
    "stashed": lambda event: f"{_short(event.before)} -> {_short(event.after)}",
    "index_changed": lambda event: "",  # noqa: ARG005 - there is nothing more to say
    "refused": lambda event: f"{event.by} by the rule {event.rule}",
    "world_moved": lambda event: f"the user has changed {', '.join(sorted(event.files))}",
    "user_said": lambda event: (
        f"{event.question} -> {event.text}" if event.question else event.text
    ),
    "facts_lost": lambda event: "more happened to files than was told",  # noqa: ARG005
    "execs_lost": lambda event: (
        f"{event.count} more execs were not {'seen' if event.unseen else 'recorded'}"
    ),
    "network_connected": _network,
    "registry_request": lambda event: (
        f"{event.method} {event.target}: {event.status}, {event.size} bytes"
    ),
    "fault_injected": lambda event: (
        f"{event.fault}: {event.effect} of {event.target}, number {event.occurrence}"
    ),
    "model_request": _model,
    "requests_lost": lambda event: f"{event.count} more requests were not recorded",
    "violation": lambda event: event.message,
    "milestone": _milestone,
    "claim": lambda event: f"{event.about}: {event.text}",
    "final": lambda event: str(event.fields),
    "run_ended": lambda event: (
        f"{event.reason} after {event.turns} turns, {event.seconds:.1f} s. {event.message}".rstrip(
            ". "
        )
    ),
}
"""By kind of event: what distinguishes one of them."""
