"""How a run ended, in the first line that a person reads of it."""

from typing import TYPE_CHECKING

from sandbox.cli.terminal import line

if TYPE_CHECKING:
    from sandbox.model.run import RunRecord
    from sandbox.model.run_folder import RunFolder

WORDS = {
    "answered": "answered",
    "gave_up": "gave up without an answer",
    "crashed": "crashed without an answer",
    "silent": "fell silent",
    "garbled": "sent nothing that could be understood",
    "budget": "used up its budget",
    "provider_error": "could not reach what it needs, and is not counted",
    "interrupted": "was interrupted",
    "machinery": "was ended by an error of the machinery",
}
LAST_LINES = 3
"""Of the agent's log, where it crashed."""
_TAIL = 4096


def end_rows(record: "RunRecord", folder: "RunFolder") -> list[str]:
    """Say how a run ended, and what its agent said last where it crashed."""
    end = record.end
    if end is None:
        return []
    turns = f"{end.turns} turn{'' if end.turns == 1 else 's'}"
    why = f": {end.message}" if end.message else ""
    rows = [f"ended: {WORDS[end.how]} after {turns}, {end.seconds:.1f} s{line(why)}"]
    if end.how == "crashed":
        rows += [f"    agent.log: {line(text)}" for text in last_words(folder)]
    most = record.allowance
    if end.usage is None and most.tokens is not None:
        rows.append("    --max-tokens has bounded nothing: the agent told no tokens")
    if most.cost is not None and (end.usage is None or end.usage.cost is None):
        rows.append("    --max-cost has bounded nothing: the agent told no cost")
    return rows


def last_words(folder: "RunFolder") -> list[str]:
    """Return the last lines of an agent's log; none where it wrote none."""
    try:
        with folder.agent_log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - _TAIL))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    return [each for each in text.splitlines() if each.strip()][-LAST_LINES:]


def where_to_look(folder: "RunFolder") -> str:
    """Name the run, and the commands that show it."""
    name = folder.id[:8]
    return f"run {folder.id}: sandbox view {name}, sandbox diff {name}, sandbox trace {name}"
