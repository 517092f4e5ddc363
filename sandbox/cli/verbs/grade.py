"""`sandbox grade`: judge a run again from what is stored of it."""

import typer

from sandbox.cli.options import JsonOption, RunArgument, RunsOption, open_store
from sandbox.cli.run_end import end_rows
from sandbox.cli.verbs.run import EXIT_CODES
from sandbox.cli.verbs.show import FEW, verdict_rows


def grade(
    run: RunArgument = "last",
    *,
    as_json: JsonOption = False,
    runs: RunsOption = None,
) -> None:
    """Grade a run again from its stored evidence; no engine is needed.

    Exit codes are those of `run`.
    """
    from sandbox.run.stored_evidence import regrade
    from sandbox.tasks import library

    folder = open_store(runs).find(run)
    loaded = library.load(folder.ended_record().task)
    again = regrade(folder, loaded)
    if as_json:
        from sandbox.cli import outputs

        outputs.write("grade", again)
    else:
        for row in (*end_rows(folder.record(), folder), *verdict_rows(again, FEW)):
            typer.echo(row)
    raise typer.Exit(EXIT_CODES[again.verdict])
