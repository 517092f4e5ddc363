"""A reply as a person reads it: texts as they are, and what else is worth a line."""

from collections.abc import Iterator

from sandbox.cli.terminal import document
from sandbox.model.briefing import Reply

_TEXTS = ("content", "stdout", "stderr", "diff", "answer", "text")
"""Fields of results that are shown as they are."""


def rows(reply: Reply) -> Iterator[str]:
    """Yield its texts; they come out of a container and have to be escaped for a terminal."""
    if reply.status == "error":
        yield f"{reply.error_code}: {reply.message}"
    result = {name: value for name, value in reply.result.items() if value is not None}
    texts = [str(result.pop(name)) for name in _TEXTS if result.get(name)]
    yield from (text.rstrip("\n") for text in texts)
    if result.get("passed") is not None:
        yield ", ".join(f"{name} {result[name]}" for name in _COUNTS if result.get(name))
    if "diff" in result and not texts and not result.get("paths"):
        yield "no differences"
    elif "duration_seconds" in result:
        code, signal = result.get("exit_code"), result.get("signal")
        if code != 0 or not texts:
            yield f"ended by signal {signal}" if signal else f"exit {code}"
    elif result and not texts:
        yield document(reply)
    yield from (f"The user says: {text}" for text in reply.said)


_COUNTS = ("passed", "failed", "errors", "skipped")


def left(reply: Reply) -> str:
    """Say what is left of the run, as the reply tells it; empty where it is over."""
    known = {
        "actions": reply.turns_left,
        "seconds": reply.seconds_left,
        "bytes to be shown": reply.output_left,
        **(reply.left or {}),
    }
    told = [f"{number} {what}" for what, number in known.items() if number is not None]
    return f"left: {', '.join(told)}" if told else ""
