"""`sandbox build`: make task images beforehand."""

from typing import Annotated

import typer

from sandbox.cli import completion
from sandbox.cli.options import JsonOption
from sandbox.cli.terminal import Progress, size


def build(
    tasks: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TASK]...",
            help="Tasks or suites; all tasks that are written by hand where none is named.",
            autocompletion=completion.tasks,
        ),
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Build the images of tasks, each only where one of its inputs has changed."""
    from sandbox.cli.pages import plots
    from sandbox.container import engines
    from sandbox.model import places
    from sandbox.tasks import choice, library
    from sandbox.tasks.images import Images

    named = [task.base for task in choice.chosen(tasks or [choice.ALL])]
    chosen = [library.load(name) for name in dict.fromkeys(named)]
    progress = Progress()
    engine = engines.connect()
    try:
        images = Images(engine, places.cache())
        built = []
        for task in chosen:
            image = images.ensure(task, progress.doing)
            built.append(image)
            done = f"built in {image.seconds:.1f} s" if image.rebuilt else "up to date"
            progress.done(f"{task.task.id}  {image.tag}  {size(image.size)}  {done}")
        if not tasks and (problem := plots.library(progress.doing).problem):
            progress.done(f"note: pages of `sandbox view` will have no plots: {problem}")
    finally:
        progress.close()
        engine.close()
    if as_json:
        from sandbox.cli import outputs

        outputs.write("build", built)
