"""`sandbox schema`: the JSON Schema of what a verb prints with `--json`."""

import difflib
import json
from typing import Annotated

import typer

from sandbox.model.errors import UsageError


def schema(
    verb: Annotated[
        list[str] | None, typer.Argument(help="A verb, as `report` or `policy explain`; all.")
    ] = None,
) -> None:
    """Print the JSON Schema of what a verb prints with --json, or those of all by verb."""
    from sandbox.cli import outputs

    found = outputs.schema()
    name = " ".join(verb or ())
    if name and name not in found["properties"]:
        near = difflib.get_close_matches(name, found["properties"], n=1)
        raise UsageError(
            f"There is no JSON of {name!r}.",
            f"Did you mean {near[0]}?" if near else f"There is {', '.join(found['properties'])}.",
        )
    if name:
        found = {"$schema": found["$schema"], **found["properties"][name], "$defs": found["$defs"]}
    typer.echo(json.dumps(found, indent=2))
