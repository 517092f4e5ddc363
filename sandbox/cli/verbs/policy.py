"""`sandbox policy`: which rule of a task decides on a command, and why."""

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.options import JsonOption, TaskArgument
from sandbox.cli.terminal import line
from sandbox.model.errors import UsageError

if TYPE_CHECKING:
    from sandbox.cli.output_records import Explained, Explanation
    from sandbox.rules.policy.rules import Finding, Judgement
    from sandbox.rules.policy.subject import Subject


def about() -> None:
    """What a task's policy says, without running anything."""


WORDS = {"allow": "allowed", "ask": "asks", "deny": "denied"}
LATER = "What a script, a Makefile or a test starts in turn is decided when it starts."


def explain(
    task: TaskArgument,
    command: Annotated[
        list[str] | None,
        typer.Argument(help="After `--`: a shell line as one word, or a program and its words."),
    ] = None,
    *,
    action: Annotated[str, typer.Option(help="The action that it is.")] = "run_command",
    cwd: Annotated[str, typer.Option(help="Where it runs, from the worktree.")] = ".",
    path: Annotated[
        list[str] | None, typer.Option(help="A file that the action names, from the worktree.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say which rule decides on a command, by which fields, and what would be asked.

    Programs are judged by the names in the command; in a run their files are looked at too.
    """
    from sandbox.model.action import ACTIONS
    from sandbox.rules.policy.rules import Rulebook
    from sandbox.rules.policy.subject import Subject
    from sandbox.tasks import library

    loaded = library.load(task)
    if action not in ACTIONS:
        raise UsageError(f"There is no action {action!r}.", f"Known are {', '.join(ACTIONS)}.")
    words = command or []
    shell = words[0] if len(words) == 1 else shlex.join(words)
    subject = Subject(action, shell or None, tuple(path or ()), cwd)
    judgement = Rulebook(loaded.task.policy, loaded.worktree).action(subject)
    if as_json:
        from sandbox.cli import outputs

        outputs.write("policy explain", _explanation(task, subject, judgement))
        return
    for text in rows(judgement, subject.line):
        typer.echo(text)


def rows(judgement: "Judgement", what: str) -> list[str]:
    """Render a judgement: what holds, then each thing that was judged."""
    decision = judgement.decision
    by = f" by the rule {decision.rule}" if decision.rule else ""
    found = [f"{WORDS[decision.outcome]}{by}: {line(decision.reason) or 'no rule matches'}"]
    found += [
        f"  would ask for {line(one.scope)}, for {line(what)}"
        for one in judgement.asked
        if one.scope is not None
    ]
    for finding in judgement.findings:
        found += [f"  {text}" for text in _finding(finding)]
    return [*found, LATER] if len(judgement.findings) > 1 else found


def _finding(finding: "Finding") -> list[str]:
    reading, decision = finding.invocation, finding.decision
    if reading is None:
        title = "the action itself"
    else:
        normal = shlex.join((reading.program, *reading.arguments))
        title = f"the program {line(normal)}"
        given = shlex.join((reading.name, *reading.words))
        title += f", given as {line(given)}" if given != normal else ""
    title += " as root" if finding.privileged else ""
    by = f" by {decision.rule}" if decision.rule else ", no rule matches"
    found = [f"{title}: {WORDS[decision.outcome]}{by}"]
    if finding.fields:
        found.append(f"  matched {line('; '.join(finding.fields))}")
    if reading is not None and finding.ancestors:
        found.append(f"  started by {line(', '.join(finding.ancestors))}")
    return found


def _explanation(task: str, subject: "Subject", judgement: "Judgement") -> "Explanation":
    from sandbox.cli.output_records import Explanation

    return Explanation(
        task=task,
        action=subject.action,
        command=subject.line,
        decision=judgement.decision,
        asks=tuple(one.scope for one in judgement.asked if one.scope is not None),
        findings=tuple(map(_explained, judgement.findings)),
    )


def _explained(finding: "Finding") -> "Explained":
    from sandbox.cli.output_records import Explained

    said = finding.decision.model_dump() | {"matched": tuple(finding.fields)}
    reading = finding.invocation
    if reading is None:
        return Explained(**said)
    return Explained(
        **said,
        program=reading.program,
        name=reading.name,
        words=tuple(reading.words),
        arguments=tuple(reading.arguments),
        network=reading.network,
        recognised_by=reading.how,
        started_by=tuple(finding.ancestors),
        privileged=finding.privileged,
    )
