"""`sandbox call`: one action in an open session."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli import completion
from sandbox.cli.options import RunsOption, open_store
from sandbox.cli.terminal import document, line, mutter, safe
from sandbox.model.errors import CallError, UsageError

if TYPE_CHECKING:
    from pydantic import JsonValue

    from sandbox.model.call import Answered, Asked
    from sandbox.model.run_folder import RunFolder

NOT_DONE = 1


def call(
    run: Annotated[
        str,
        typer.Argument(
            help="`last` or the start of the session's id.", autocompletion=completion.runs
        ),
    ],
    action: Annotated[
        str, typer.Argument(help="An action, e.g. `read_file`.", autocompletion=completion.actions)
    ],
    arguments: Annotated[
        str, typer.Argument(metavar="[JSON]", help="Its arguments; `-` reads standard input.")
    ] = "{}",
    *,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=TEXT", help="One more argument, a text; may be repeated."
        ),
    ] = None,
    files: Annotated[
        list[str] | None,
        typer.Option(
            "--file", metavar="NAME=PATH", help="The same, its text being that of a file here."
        ),
    ] = None,
    text: Annotated[
        bool, typer.Option("--text", help="Print texts as they are, not the reply as JSON.")
    ] = False,
    runs: RunsOption = None,
) -> None:
    """Perform one action in an open session and print the observation as JSON.

    Several callers take turns. Exit codes: 0 the action was carried out (its command may have
    failed: see `exit_code`), 1 it was not: see `error_code`; 2 usage, or the session is over; 3 its
    process is gone.
    """
    from sandbox.cli.open_sessions import find_open
    from sandbox.cli.reply_text import left, rows
    from sandbox.model.call import Call, Performed, Unread
    from sandbox.model.observation import ErrorCode

    named = {**dict(_named(given or ())), **dict(_named(files or (), of_file=True))}
    folder = find_open(open_store(runs), run)
    short = folder.id[:8]
    try:
        asked = Call(action=action, arguments={**_read(arguments), **named})
    except UsageError as error:
        # So that `sandbox close` does not end a run behind an answer that was only misspelt.
        _ask(folder, Unread(action=action, problem=error.message))
        raise
    answer = _ask(folder, asked)
    if not isinstance(answer, Performed):
        raise CallError(f"The session answered something else: {line(str(answer))}")
    reply = answer.reply
    if reply.error_code is ErrorCode.RUN_OVER:
        raise UsageError(
            f"{folder.id}: {line(reply.message or '')}", f"`sandbox close {short}`: the verdict."
        )
    for row in rows(reply) if text else (document(reply),):
        typer.echo(safe(row) if text else row)
    if text and (told := left(reply)):
        mutter(f"{safe(told)}\n")  # beside the texts, which are as they are
    raise typer.Exit(NOT_DONE if reply.status == "error" else 0)


def _ask(folder: "RunFolder", asked: "Asked") -> "Answered":
    from sandbox.agents.session_caller import Caller

    try:
        with Caller(folder.calls) as caller:
            return caller.ask(asked)
    except CallError as error:
        next_step = f"`sandbox close {folder.id[:8]}` says what is known."
        raise CallError(error.message, next_step) from error


def _named(pairs: Sequence[str], *, of_file: bool = False) -> "Iterator[tuple[str, JsonValue]]":
    """Read `NAME=TEXT`, or `NAME=PATH`; UsageError where that cannot be."""
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not name or not sign:
            raise UsageError(
                f"{pair!r} names no argument.", "Write NAME=TEXT, e.g. path=README.md."
            )
        if not of_file:
            yield name, value
            continue
        try:
            yield name, Path(value).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise UsageError(f"{value} cannot be read as text: {error}.", "Name a file.") from error


def _read(text: str) -> "dict[str, JsonValue]":
    from sandbox.agents.requests import decode_object

    data = sys.stdin.buffer.read() if text == "-" else text.encode("utf-8", "surrogateescape")
    try:
        return decode_object(data, "The text")
    except ValueError as error:
        raise UsageError(str(error), 'Give an object: \'{"path": "README.md"}\'.') from error
