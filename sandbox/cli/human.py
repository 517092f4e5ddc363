"""A person as the agent: a prompt that takes actions in JSON or in short, and shows what comes.

Observations come out of a container: they are escaped before a terminal sees them. What is typed
wrongly is told at once and is no request. Without a terminal it reads lines the same way.
"""

import os
import select
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from pydantic import JsonValue

from sandbox.agents.base import Departure
from sandbox.agents.requests import decode_object
from sandbox.cli.reply_text import rows
from sandbox.cli.terminal import safe
from sandbox.model.action import ACTIONS, Request
from sandbox.model.briefing import Briefing, Ended, Reply

PROMPT = "sandbox> "
HELP = """\
  ACTION JSON              any action, e.g. read_file {"path": "README.md", "line_limit": 20}
  ! COMMAND                run_command       test [COMMAND]         run_tests
  cat PATH                 read_file         ls [PATH]              list_files
  grep PATTERN             search_repo       diff [PATH]            git_diff
  patch FILE               apply_patch, the patch being a file on this side
  write PATH FILE          write_file, the content being a file on this side
  ask SCOPE COMMAND        request_approval
  say QUESTION             ask_user
  answer JSON              final_answer, the JSON being its fields; ends the run
  help, quit               this text; leave, and have done what is done"""
_LONGEST = 1 << 20
_CHUNK = 1 << 16

Arguments = dict[str, JsonValue]


class HumanAgent:
    """Acts as a person says."""

    name = "human"

    def __init__(self, keyboard: IO[bytes], screen: IO[str]) -> None:
        self._keyboard, self._screen = keyboard, screen
        self._typed = b""
        self._at_end = False
        self._prompted = False
        self._count = 0

    def begin(self, briefing: Briefing) -> None:
        """Show the task."""
        limits = briefing.limits
        fields = ", ".join(f"{name}: {kind}" for name, kind in briefing.final.items())
        self._say(
            briefing.title,
            "",
            briefing.prompt.rstrip(),
            "",
            f"answer: {fields or 'no fields'}",
            f"limits: {limits.turns} actions, {limits.seconds:g} s,"
            f" {limits.silence_seconds:g} s for each",
            HELP,
        )

    def next(self, reply: Reply | None, timeout: float) -> Request | None:
        """Show the reply and take lines until one is an action."""
        if reply is not None:
            self._show(reply)
        end = time.monotonic() + timeout
        while (line := self._line(end)) is not None:
            words = line.strip()
            if words in ("quit", "exit"):
                return None
            if words in ("help", "?"):
                self._say(HELP)
            elif words:
                try:
                    action, arguments = understood(words)
                except ValueError as error:
                    self._say(f"{error} `help` says more.")
                    continue
                self._count += 1
                return Request(id=str(self._count), action=action, arguments=arguments)
        return None

    def ending(self) -> Departure:
        """Say that it left."""
        return Departure("The person left.")

    def close(self, reply: Reply | None, ended: Ended) -> None:
        """Show the last reply and why it is over."""
        if reply is not None:
            self._show(reply)
        self._say(f"over: {ended.ended}. {ended.message}".rstrip())

    def _line(self, end: float) -> str | None:
        """Take the next line that was typed; None at the end of the input."""
        while b"\n" not in self._typed and not self._at_end:
            if not self._prompted and os.isatty(self._keyboard.fileno()):
                self._screen.write(PROMPT)
                self._screen.flush()
            self._prompted = True
            left = max(0.0, end - time.monotonic())
            if not select.select([self._keyboard], [], [], left)[0]:
                raise TimeoutError("The person typed nothing for too long.")
            piece = os.read(self._keyboard.fileno(), _CHUNK)
            self._at_end = not piece or len(self._typed) > _LONGEST
            self._typed += piece
        self._prompted = False
        line, newline, self._typed = self._typed.partition(b"\n")
        return line.decode("utf-8", "replace") if line or newline else None

    def _show(self, reply: Reply) -> None:
        self._say(*rows(reply))

    def _say(self, *texts: str) -> None:
        for text in texts:
            self._screen.write(safe(text) + "\n")
        self._screen.flush()


def understood(line: str) -> tuple[str, Arguments]:
    """Read what was typed as an action; ValueError with a sentence where it is none."""
    word, _, rest = line.partition(" ")
    rest = rest.strip()
    if word.startswith("!"):
        return "run_command", {"command": _wanted(line[1:].strip(), "a command")}
    if word in _SHORT:
        action, read = _SHORT[word]
        return action, read(rest)
    if word in ACTIONS:
        return word, decode_object((rest or "{}").encode(), "What follows")
    raise ValueError(f"There is no action {word!r}.")


def _one(name: str, *, needed: bool) -> Callable[[str], Arguments]:
    def read(rest: str) -> Arguments:
        if not rest and not needed:
            return {}
        return {name: _wanted(rest, f"a {name}")}

    return read


def _patch(rest: str) -> Arguments:
    return {"patch": _file(_wanted(rest, "a file"))}


def _write(rest: str) -> Arguments:
    path, _, file = rest.partition(" ")
    return {"path": _wanted(path, "a path"), "content": _file(_wanted(file.strip(), "a file"))}


def _ask(rest: str) -> Arguments:
    scope, _, command = rest.partition(" ")
    return {
        "scope": _wanted(scope, "a scope"),
        "command": _wanted(command.strip(), "a command"),
    }


def _answer(rest: str) -> Arguments:
    return {"fields": decode_object((rest or "{}").encode(), "What follows")}


_SHORT: dict[str, tuple[str, Callable[[str], Arguments]]] = {
    "cat": ("read_file", _one("path", needed=True)),
    "ls": ("list_files", _one("path", needed=False)),
    "grep": ("search_repo", _one("pattern", needed=True)),
    "test": ("run_tests", _one("command", needed=False)),
    "diff": ("git_diff", _one("path", needed=False)),
    "patch": ("apply_patch", _patch),
    "write": ("write_file", _write),
    "ask": ("request_approval", _ask),
    "say": ("ask_user", _one("question", needed=True)),
    "answer": ("final_answer", _answer),
}


def _wanted(text: str, what: str) -> str:
    if not text:
        raise ValueError(f"It needs {what}.")
    return text


def _file(name: str) -> str:
    try:
        return Path(name).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{name} cannot be read: {error}.") from error
