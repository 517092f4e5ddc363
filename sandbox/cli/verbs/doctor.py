"""`sandbox doctor`: what works on this machine, and what can be mended."""

from typing import Annotated

import typer

from sandbox.cli.options import JsonOption
from sandbox.cli.terminal import Progress, coloured
from sandbox.model.errors import EngineError, NameSpaceError


def doctor(
    *,
    mend: Annotated[
        bool,
        typer.Option(
            "--mend", help="Install and start an engine where none answers (Debian, Ubuntu; root)."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Explain engine, kernel, disk and tools; exit 3 where something that is needed is missing."""
    from sandbox.container import engines
    from sandbox.container.engines import diagnosis, install

    try:
        engines.check_rights()
    except NameSpaceError:
        raise
    except EngineError:
        pass  # what is missing is told with all else
    if mend:
        progress = Progress()
        install.mend(progress.done)
        progress.close()
    found = diagnosis.examine()
    if as_json:
        from sandbox.cli import outputs

        outputs.write("doctor", found)
    else:
        for check in found.checks:
            typer.echo(f"{coloured(f'{check.state:<4}')}  {check.name:<22} {check.found}")
            if check.mend and check.state != "ok":
                typer.echo(f"      {'':<22} {check.mend}")
    if any(check.state == "bad" for check in found.checks):
        raise typer.Exit(3)
