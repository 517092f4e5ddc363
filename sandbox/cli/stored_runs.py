"""The records of stored runs, as verbs that go through many of them read them."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import typer

from sandbox.cli.terminal import line
from sandbox.model.errors import StoreError

if TYPE_CHECKING:
    from sandbox.model.run import RunRecord
    from sandbox.model.run_folder import RunFolder


def records(folders: "Iterable[RunFolder]") -> "Iterator[tuple[RunFolder, RunRecord]]":
    """Give each run with its record; say which cannot be read, and note the end of dead ones."""
    for folder in folders:
        try:
            record = folder.record()
            if record.ended is None:
                from sandbox.run import dead_runs  # half a second that few have to wait

                dead_runs.bury([folder])
                record = folder.record()
        except StoreError as error:
            typer.echo(f"left out, it cannot be read: {folder.id}: {line(error.message)}", err=True)
        else:
            yield folder, record
