"""`sandbox call`: one action in an open session."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.options import RunsOption, open_store
from sandbox.cli.terminal import document, line
from sandbox.model.errors import CallError, UsageError

if TYPE_CHECKING:
    from pydantic import JsonValue

NOT_DONE = 1


def call(
    run: Annotated[str, typer.Argument(help="`last` or the start of the session's id.")],
    action: Annotated[str, typer.Argument(help="An action, e.g. `read_file`.")],
    arguments: Annotated[
        str, typer.Argument(metavar="[JSON]", help="Its arguments; `-` reads standard input.")
    ] = "{}",
    *,
    runs: RunsOption = None,
) -> None:
    """Perform one action in an open session and print the observation as JSON.

    Several callers take turns. Exit codes: 0 the action was carried out (its command may have
    failed: see `exit_code`), 1 it was not: see `error_code`; 2 usage, or the session is over; 3 its
    process is gone.
    """
    from sandbox.agents.session_caller import Caller
    from sandbox.cli.open_sessions import find_open
    from sandbox.model.call import Call, Performed
    from sandbox.model.observation import ErrorCode

    asked = Call(action=action, arguments=_read(arguments))
    folder = find_open(open_store(runs), run)
    short = folder.id[:8]
    try:
        with Caller(folder.calls) as caller:
            answer = caller.ask(asked)
    except CallError as error:
        raise CallError(error.message, f"`sandbox close {short}` says what is known.") from error
    if not isinstance(answer, Performed):
        raise CallError(f"The session answered something else: {line(str(answer))}")
    reply = answer.reply
    if reply.error_code is ErrorCode.RUN_OVER:
        raise UsageError(
            f"{folder.id}: {line(reply.message or '')}", f"`sandbox close {short}`: the verdict."
        )
    typer.echo(document(reply))
    raise typer.Exit(NOT_DONE if reply.status == "error" else 0)


def _read(text: str) -> "dict[str, JsonValue]":
    from sandbox.agents.requests import decode_object

    data = sys.stdin.buffer.read() if text == "-" else text.encode("utf-8", "surrogateescape")
    try:
        return decode_object(data, "The text")
    except ValueError as error:
        raise UsageError(str(error), 'Give an object: \'{"path": "README.md"}\'.') from error
