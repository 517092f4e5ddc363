"""`sandbox judge`: what a model says of an experiment's runs, which decides nothing."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli import completion
from sandbox.cli.options import JsonOption, RunsOption, open_store
from sandbox.cli.tables import number, table
from sandbox.cli.terminal import Progress, line

if TYPE_CHECKING:
    from sandbox.model.judgement import Agreement, Judgement


def judge(
    experiment: Annotated[
        str,
        typer.Argument(
            help="An experiment of several agents.", autocompletion=completion.experiments
        ),
    ],
    *,
    rubric: Annotated[Path, typer.Option(help="A YAML file: question, criteria, times.")],
    model: Annotated[str, typer.Option(help="The model that judges.")],
    base_url: Annotated[
        str | None, typer.Option(help="An endpoint like OpenAI's; OpenAI's by default.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="A YAML file of what people say of some pairs.")
    ] = None,
    as_json: JsonOption = False,
    runs: RunsOption = None,
) -> None:
    """Ask a model which of two runs is better, in both orders and several times.

    It says how far the model agrees with itself and with people. What it says is kept apart from
    the runs: no verdict, report or gate looks at it.
    """
    from sandbox.agents.llm_endpoint import Endpoint, Model
    from sandbox.model import documents
    from sandbox.model.judgement import Labels, Rubric
    from sandbox.run import experiment as experiments
    from sandbox.run import judge as judging

    asked = documents.load(rubric, Rubric)
    known = documents.load(labels, Labels) if labels else None
    store = open_store(runs)
    found = experiments.called(store, experiment)
    progress = Progress(sys.stderr)
    endpoint = Endpoint(Model.chosen(model, base_url, None), progress.done)
    try:
        judged = judging.Judge(endpoint, asked, progress.doing).of(found, store, model, known)
    finally:
        progress.close()
        endpoint.close()
    path = judging.keep(judged, store)
    if as_json:
        from sandbox.cli import outputs

        outputs.write("judge", judged)
        return
    for text in rows(judged):
        typer.echo(text)
    typer.echo(f"every answer: {path}")


def rows(judged: "Judgement") -> list[str]:
    """Render a judgement: a row for each pair, then how far it can be believed."""
    told = [
        [pair.task, pair.first[:8], pair.second[:8], pair.better or "-"] for pair in judged.pairs
    ]
    found = [
        *table(["task", "first", "second", "better"], told, left=4),
        "",
        _row("both orders", judged.orders),
        _row("repeated questions", judged.repeats),
    ]
    if judged.labels is not None:
        found.append(_row("labels of people", judged.labels))
    used = judged.usage
    tokens = f"{used.input_tokens} tokens read, {used.output_tokens} written"
    return [*found, f"{line(judged.model)}: {tokens}; it decides nothing"]


def _row(what: str, found: "Agreement") -> str:
    if not found.pairs:
        return f"agreement, {what}: there is nothing to compare"
    kappa = "none, for all say the same" if found.kappa is None else number(found.kappa)
    return f"agreement, {what}: {number(found.observed)} of {found.pairs}, kappa {kappa}"
