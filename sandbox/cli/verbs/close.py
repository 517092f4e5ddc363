"""`sandbox close`: end an open session, have it graded, and print the verdict."""

from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli import completion
from sandbox.cli.options import RunsOption, open_store
from sandbox.cli.run_end import end_rows, where_to_look
from sandbox.cli.terminal import line
from sandbox.cli.verbs.run import EXIT_CODES
from sandbox.cli.verbs.show import FEW, verdict_rows
from sandbox.model.errors import CallError, UsageError

if TYPE_CHECKING:
    from sandbox.model.run_folder import RunFolder


def close(
    run: Annotated[
        str,
        typer.Argument(
            help="`last` or the start of the session's id.", autocompletion=completion.runs
        ),
    ],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the grade as JSON.")] = False,
    runs: RunsOption = None,
) -> None:
    """End an open session, wait until it is graded, and print the verdict with its reasons.

    The action that is under way is finished first. A session that has ended by itself keeps its
    verdict. Where the last thing done was an answer that was refused, the session stays open, and
    the next `close` ends it. Exit codes as of `sandbox run`: 0 passed, 1 failed, 2 usage (or still
    open), 3 infrastructure (its process is gone, say), 4 invalid.
    """
    from sandbox.model.grade import RunGrade

    folder = open_store(runs).find(run)
    _end(folder)
    grade = folder.load(folder.grade, RunGrade)
    if as_json:
        from sandbox.cli import outputs

        outputs.write("close", grade)
    else:
        for row in (*end_rows(folder.record(), folder), *verdict_rows(grade, FEW)):
            typer.echo(row)
        typer.echo(where_to_look(folder))
    raise typer.Exit(EXIT_CODES[grade.verdict])


def _end(folder: "RunFolder") -> None:
    """See to it that the run has ended."""
    from sandbox.agents.session_caller import Caller
    from sandbox.model.call import Close, KeptOpen

    if folder.calls.exists():
        try:
            with Caller(folder.calls) as caller:
                answer = caller.ask(Close())
                if isinstance(answer, KeptOpen):
                    raise UsageError(
                        f"{folder.id} is still open, for its last answer was refused:"
                        f" {line(answer.problem)}",
                        "Give the answer again, as it has to be; `close` again ends it without.",
                    )
                caller.wait()
        except CallError:
            pass  # it has ended, or was ended: what is on the disk tells
    if folder.calls.exists():
        _clean(folder)
    elif folder.record().ended is None:
        raise UsageError(
            f"{folder.id} is not an open session.", "`sandbox tasks` lists those that are."
        )


def _clean(folder: "RunFolder") -> None:
    from sandbox.cli.open_sessions import bury, is_orphan
    from sandbox.container import engines

    if not is_orphan(folder):
        return
    engine = engines.connect()
    try:
        bury(folder, engine)
    finally:
        engine.close()
