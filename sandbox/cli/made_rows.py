"""What was written for authors, as rows or as JSON."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from sandbox.cli.terminal import line

if TYPE_CHECKING:
    from sandbox.cli.output_records import Made


def tell(verb: str, made: "Made | Sequence[Made]", *, as_json: bool) -> None:
    """Print it."""
    from sandbox.cli import outputs
    from sandbox.cli.output_records import Made

    if as_json:
        outputs.write(verb, made)
        return
    for each in [made] if isinstance(made, Made) else made:
        typer.echo(f"written to {each.path}{f': {each.told}' if each.told else ''}")
        for note in each.notes:
            typer.echo(line(note))
        if each.next:
            typer.echo(f"next: {', '.join(each.next)}")
