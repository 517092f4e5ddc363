"""`sandbox show`: a task, or the verdict on a run."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli import completion
from sandbox.cli.open_sessions import standing
from sandbox.cli.options import JsonOption, RunsOption, open_store
from sandbox.cli.run_end import end_rows
from sandbox.cli.terminal import coloured, line, safe
from sandbox.model.errors import UsageError

if TYPE_CHECKING:
    from sandbox.model.grade import Reason, RunGrade
    from sandbox.model.run import RunRecord
    from sandbox.model.run_folder import RunFolder
    from sandbox.model.task import Task
    from sandbox.tasks.library import LoadedTask


class Drawing(StrEnum):
    """How a graph is drawn."""

    SVG = "svg"
    MERMAID = "mermaid"


FEW = 5
"""Reasons of each grader that are shown where a run has just been judged."""


def reason_row(reason: "Reason") -> str:
    """One reason, with where to look."""
    where = [
        text
        for text in (
            f"event {reason.event}" if reason.event is not None else "",
            reason.path or "",
            reason.test or "",
        )
        if text and text not in reason.message
    ]
    mark = "soft: " if reason.soft else ""
    return f"    {mark}{line(reason.message)}" + (f"  ({line(', '.join(where))})" if where else "")


def verdict_rows(grade: "RunGrade", most: int | None = None) -> list[str]:
    """Render the verdict with its reasons, at `most` so many of each grader."""
    rows = [f"verdict: {coloured(grade.verdict)}"]
    if grade.problem:
        rows.append(f"    {line(grade.problem)}")
    for part in grade.grades:
        facts = ", ".join(f"{name} {value}" for name, value in part.facts.items() if value != 0)
        rows.append(f"  {part.grader:<11} {coloured(f'{part.verdict:<8}')} {line(facts)}".rstrip())
        rows += [reason_row(reason) for reason in part.reasons[:most]]
        left = len(part.reasons[most:]) if most else 0
        rows += [f"    and {left} more: sandbox show {grade.run[:8]}"] if left else []
    return rows


def task_rows(task: "Task") -> list[str]:
    """Render a task: what the agent is told, and what it is graded by."""
    rows = [f"{task.id}  {task.facet}", task.title, "", safe(task.prompt).rstrip(), ""]
    rows += [f"rule    {rule.id}: {rule.reason} ({rule.stated_in})" for rule in task.rules]
    rows += [f"policy  {rule.decision} {rule.id}: {rule.reason}" for rule in task.policy.rules]
    rows += user_rows(task)
    if registry := task.world.registry:
        rows.append(
            f"network {registry.scope}: {len(registry.artifacts)} packages on port"
            f" {registry.port}, {len(registry.faults)} scripted faults"
        )
    for owner, globs in task.scope.lists():
        rows += [f"scope   {owner:<9} {glob}" for glob in globs]
    rows += [f"final   {name}: {field.type}" for name, field in task.final.items()]
    tests = task.tests
    rows.append(
        f"tests   {len(tests.fail_to_pass)} that fail before,"
        f" {len(tests.pass_to_pass)} that keep passing"
    )
    if tests.cases is not None:
        rows.append(
            f"cases   {len(tests.cases.fail_to_pass)} that fail before,"
            f" {len(tests.cases.pass_to_pass)} that keep passing, called from outside"
        )
    limits = task.limits
    rows.append(f"limits  {limits.turns} turns, {limits.seconds:g} s")
    return rows


def user_rows(task: "Task") -> list[str]:
    """Render what the task's user may say, if it has one."""
    from sandbox.rules.monitors.atoms import described

    if task.user is None:
        return []
    rows = []
    for answer in task.user.answers:
        waits = f", once {answer.after} is marked" if answer.after else ""
        until = f", until {answer.before} is marked" if answer.before else ""
        rows.append(f"user    answers {answer.id}{waits}{until}: {line(answer.says)}")
    turns = task.user.turns
    return rows + [
        f"user    says {turn.id} after {described(turn.after)}: {line(turn.says)}" for turn in turns
    ]


def show(
    name: Annotated[
        str,
        typer.Argument(
            help="A task, or a run: `last` or the start of its name.",
            autocompletion=completion.runs_and_tasks,
        ),
    ],
    *,
    as_json: JsonOption = False,
    compiled: Annotated[
        bool, typer.Option("--compiled", help="Print what the task's plan is compiled to.")
    ] = False,
    graph: Annotated[
        Drawing | None, typer.Option("--graph", help="Draw the task's world graph.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", help="Write the drawing to this file.")
    ] = None,
    runs: RunsOption = None,
) -> None:
    """Show a task, its world graph, or a run's verdict with its reasons."""
    from sandbox.grading.stored_grade import stored_grade
    from sandbox.run import dead_runs
    from sandbox.tasks import library

    if graph is not None:
        show_graph(library.load(name).task, graph, output)
        return
    if output is not None:
        raise UsageError("--output goes with --graph.", "Add `--graph svg` or `--graph mermaid`.")
    if compiled and "/" not in name:
        raise UsageError("--compiled goes with a task.", "`sandbox tasks` lists the tasks.")
    if compiled:
        typer.echo(safe(derived(library.load(name).task)), nl=False)
        return
    if "/" in name:
        _show_task(library.load(name), as_json=as_json)
        return
    folder = open_store(runs).find(name)
    dead_runs.bury([folder])
    record = folder.record()
    grade = stored_grade(folder, record)
    if as_json:
        from sandbox.cli import outputs

        if grade is None:
            outputs.write("show unfinished", record)
        else:
            outputs.write("show run", grade)
    elif grade is None:
        typer.echo(standing(folder) or unfinished(record.problem))
    else:
        _show_run(folder, record, grade)


def _show_task(loaded: "LoadedTask", *, as_json: bool) -> None:
    from sandbox.tasks import library

    if as_json:
        from sandbox.cli import outputs

        outputs.write("show task", loaded.task)
        return
    for row in task_rows(loaded.task):
        typer.echo(row)
    for file in library.unlisted(loaded):
        typer.echo(f"hidden  {line(file)}: the task lists no test of it, so none grades")


def _show_run(folder: "RunFolder", record: "RunRecord", grade: "RunGrade") -> None:
    typer.echo(f"{record.id}  {record.task}  agent {line(record.acting)}  {record.started}")
    for text in (*end_rows(record, folder), *about_actor(record)):
        typer.echo(text)
    typer.echo(f"processes seen: {record.coverage or 'none'}")
    if client := record.client:
        typer.echo(f"client: {client.preset} {line(client.version)}; safety gate {client.gate}")
        for warning in client.warnings:
            typer.echo(f"  warning: {line(warning)}")
    for row in verdict_rows(grade):
        typer.echo(row)


def about_actor(record: "RunRecord") -> list[str]:
    """Render what is known of who acted besides the label, a line at most."""
    actor = record.actor
    told = [
        f"command {actor.command}" if actor.command not in ("", record.agent) else "",
        f"model {actor.model}" if actor.model else "",
        f"files {actor.digest[:8]}" if actor.digest else "",
        *(f"{key}={value}" for key, value in actor.tags.items()),
    ]
    text = ", ".join(filter(None, told))
    return [f"agent: {line(text)}"] if text else []


def show_graph(task: "Task", drawing: Drawing, output: Path | None) -> None:
    """Print a task's world graph, or write it to a file."""
    from sandbox.rules.checker.check import check, graph_of
    from sandbox.rules.checker.mermaid import mermaid
    from sandbox.rules.checker.svg import svg

    draw = svg if drawing is Drawing.SVG else mermaid
    drawn = draw(graph_of(task), check(task))
    if output is None:
        typer.echo(safe(drawn), nl=False)
        return
    try:
        output.write_text(drawn, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{output} cannot be written: {error.strerror}.", "Choose another file for --output."
        ) from error


def derived(task: "Task") -> str:
    """Write what a task may be given in place of its plan, as its file would hold it."""
    from sandbox.model import yaml_tree

    names = {"oracle", "graph", "statements"}
    return yaml_tree.text(task.model_dump(mode="json", include=names, exclude_defaults=True))


def unfinished(problem: str) -> str:
    """Say why a run has no grade."""
    return f"no verdict: {line(problem)}" if problem else "no verdict: the run has not ended"
