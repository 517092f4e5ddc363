"""`sandbox harvest`: a task, or a policy, from a run."""

from pathlib import Path
from typing import Annotated

import typer

from sandbox.cli.options import JsonOption, RunArgument, RunsOption, open_store
from sandbox.model.errors import UsageError


def harvest(
    run: RunArgument,
    name: Annotated[
        str, typer.Argument(help="What the new task is to be called, in its repository.")
    ] = "",
    *,
    policy: Annotated[
        Path | None,
        typer.Option(help="Write the policy here, with the run's decisions as its examples."),
    ] = None,
    event: Annotated[
        int | None,
        typer.Option(min=0, help="Of its decisions only this event's; numbered by `trace`."),
    ] = None,
    as_json: JsonOption = False,
    runs: RunsOption = None,
) -> None:
    """Make a task of a run: one that passed is an oracle there, one that failed has to fail there.

    The new task is the run's own under another name, tagged `regression` where the run failed;
    `sandbox validate TASK --only refused` proves that it is still refused for the same reason.
    """
    from sandbox.cli import made_rows
    from sandbox.cli.output_records import Made
    from sandbox.model import yaml_tree
    from sandbox.model.run_folder import write_whole
    from sandbox.run import harvest as harvesting
    from sandbox.tasks import harvested, library

    if not name and policy is None:
        raise UsageError(
            "Nothing is to be made.", "Name the new task, or a file with --policy FILE."
        )
    if event is not None and policy is None:
        raise UsageError("An event is one of a policy's decisions.", "Add --policy FILE.")
    folder = open_store(runs).find(run)
    task = library.load(folder.record().task)
    written = []
    if policy is not None:
        if policy.exists():
            raise UsageError(f"{policy} is there already.", "Nothing was overwritten.")
        found = harvesting.decided(folder, task, event).model_dump(
            mode="json", exclude_defaults=True
        )
        write_whole(policy, yaml_tree.text(found).encode())
        written.append(Made(path=str(policy), told="a task's `policy`"))
    if name:
        deeds = harvesting.deeds(folder, task)
        made = harvested.harvest(task, deeds, name)
        known = f"{made.parent.name}/{made.name}"
        who, check = ("solves it", "oracle") if deeds.passed else ("has to fail", "refused")
        steps = (f"sandbox validate {known} --only {check}", f"sandbox run {known}")
        written.append(Made(path=str(made), told=f"an agent that {who}", next=steps))
    made_rows.tell("harvest", written, as_json=as_json)
