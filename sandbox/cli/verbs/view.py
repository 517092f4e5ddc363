"""`sandbox view`: a run or an experiment in a browser."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from sandbox.cli import completion
from sandbox.cli.options import RunsOption, open_store
from sandbox.cli.terminal import mutter
from sandbox.model.errors import UsageError

if TYPE_CHECKING:
    from sandbox.model.store import Store


def view(
    name: Annotated[
        str | None,
        typer.Argument(
            help="A run (`last` or the start of its name) or an experiment; else all.",
            autocompletion=completion.runs_and_experiments,
        ),
    ] = None,
    *,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write one self-contained page, serve nothing.")
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port of the loopback; 0 for any.")
    ] = 0,
    runs: RunsOption = None,
) -> None:
    """Look at runs in a browser: what happened in each, and what an experiment's come to."""
    from sandbox.cli.pages import plots
    from sandbox.cli.pages import site as pages
    from sandbox.run import experiment as experiments

    store = open_store(runs)
    is_experiment = name is not None and experiments.find(store, name) is not None
    if html is not None:
        _write(html, store, name, is_experiment=is_experiment)
        return
    path = ""
    if is_experiment:
        path = f"experiment/{quote(str(name), safe='')}"
    elif name is not None:
        path = f"run/{store.find(name).id}"
    site = pages.site(store, plots.library(_say))
    with pages.bound(port) as listener:
        typer.echo(f"http://{pages.LOOPBACK}:{listener.getsockname()[1]}/{path}")
        _say("Ctrl-C ends it")
        pages.serve(site, listener)


def _write(html: Path, store: "Store", name: str | None, *, is_experiment: bool) -> None:
    from sandbox.cli.pages import plots
    from sandbox.cli.pages import site as pages

    if name is None:
        raise UsageError("--html goes with a run or an experiment.", "`sandbox runs` lists them.")
    if is_experiment:
        text = pages.page_of_experiment(store, name, plots.library(_say))
    else:
        text = pages.page_of_run(store, name)
    try:
        html.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{html} cannot be written: {error.strerror}.", "Choose another file for --html."
        ) from error
    typer.echo(str(html))


def _say(text: str) -> None:
    mutter(f"{text}\n")
