"""`sandbox run`: an agent on a task, or on several tasks several times."""

import gc
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox.cli.agent import ChosenAgent, choose_agent
from sandbox.cli.agent_choice import AgentsChoice
from sandbox.cli.event_text import described
from sandbox.cli.grouped import grouped
from sandbox.cli.inside import InsideChoice
from sandbox.cli.options import RunsOption, TasksArgument, open_store
from sandbox.cli.order import Amount, Conduct, Order
from sandbox.cli.run_end import end_rows, where_to_look
from sandbox.cli.terminal import Progress, line, mutter
from sandbox.cli.verbs.show import FEW, verdict_rows
from sandbox.model.errors import SandboxError, UsageError

if TYPE_CHECKING:
    from sandbox.model.event import Entry, Observed
    from sandbox.model.grade import RunGrade
    from sandbox.model.run import Mode
    from sandbox.model.run_folder import RunFolder
    from sandbox.model.store import Store
    from sandbox.rules.policy.approvers import Approver
    from sandbox.tasks.library import LoadedTask

EXIT_CODES = {"passed": 0, "failed": 1, "error": 3, "invalid": 4}


class Display:
    """Shows a trial as it goes: a line for each action that has been answered."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._action = ""
        self._begun = 0.0
        self._turn = 0
        self._said: list[str] = []

    def stage(self, text: str) -> None:
        """Show what the harness is doing."""
        self._progress.doing(text)

    def entry(self, entry: "Entry") -> None:
        """Show an action that begins and how it ends."""
        event = entry.event
        if event.kind == "action":
            self._turn += 1
            self._begun = entry.elapsed
            self._action = f"{self._turn:>4}  {described(event)}"
            self._progress.doing(self._action)
        elif event.kind == "observation":
            took = entry.elapsed - self._begun
            self._progress.done(f"{self._action:<76}  {ended(event):<22} {took:6.2f} s")
            for said in self._said:  # with the answer to the action, as the agent hears it
                self._progress.done(said)
            self._said.clear()
        elif event.kind == "approval_decided":
            word = "granted" if event.answer.approved else "denied"
            told = f"{event.question.scope} {word}: {event.answer.reason}"
            self._progress.done(f"      {line(told)}")
        elif event.kind == "user_said":
            self._said.append(f"      the user: {line(event.text)}")
        elif event.kind == "violation":
            word = "broken" if event.hard else "broken, soft"
            self._progress.done(f"      {word}: {line(event.message)}")
        elif event.kind == "run_ended":
            self._progress.doing("grading in a fresh container")


def ended(event: "Observed") -> str:
    """Say how an action ended, in two or three words."""
    seen = event.observation
    if seen.error_code:
        return seen.error_code
    passed, failed = seen.result.get("passed"), seen.result.get("failed")
    if passed is not None:
        errors = seen.result.get("errors")
        return f"{passed} passed, {failed} failed" + (f", {errors} errors" if errors else "")
    code = seen.result.get("exit_code", 0)
    return "ok" if code == 0 else f"exit {code}"


@dataclass(frozen=True, slots=True)
class Narrowed:
    """Which of the tasks that are named are meant."""

    facet: Annotated[
        list[str] | None, typer.Option(help="Only tasks of this facet; may be repeated.")
    ] = None
    level: Annotated[
        list[str] | None,
        typer.Option(help="Only variants of this level, of a suite or the standard one."),
    ] = None


@grouped
def run(
    task: TasksArgument,
    *,
    narrowed: Narrowed,
    agents: AgentsChoice,
    within: InsideChoice,
    amount: Amount,
    conduct: Conduct,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print the grade, or an experiment's results, as JSON; progress to stderr.",
        ),
    ] = False,
    runs: RunsOption = None,
) -> None:
    """Run an agent on a task and print the verdict with its reasons.

    Several tasks, agents or trials are an experiment, as is whatever a pattern, a level or a file
    names: a line for each run as it ends, then a summary. One that fails stops no other. After
    Ctrl-C, or whatever else ended it, the same command goes on where it stopped.

    Exit codes: 0 passed, 1 failed, 2 usage, 3 infrastructure, 4 invalid; of several runs the
    highest.
    """
    from sandbox.cli.approver import choose_approver
    from sandbox.tasks import choice

    if conduct.approver == "terminal" and amount.jobs > 1:
        raise UsageError("A person answers for one run at a time.", "Leave --jobs out.")
    loaded = choice.chosen(task, narrowed.facet or (), narrowed.level or ())
    acting = agents.each()
    agent = acting[0]
    one = choice.names_one(task, narrowed.level or ())
    alone = amount.trials == 1 and amount.jobs and not amount.experiment and not amount.on
    if not one or len(acting) > 1 or not alone:
        if any(each.agent == "human" for each in acting):
            raise UsageError("A person acts in one run at a time.", "Name one task.")
        from sandbox.cli import batch_progress as many

        order = Order(loaded, acting, within, amount, conduct)
        raise typer.Exit(many.run(order, open_store(runs), as_json=as_json))
    who = choose_approver(conduct.approver, loaded[0].task)
    make = choose_agent(agent, loaded[0], within)
    single = Single(loaded[0], make, who, agent.trial_mode, conduct)
    raise typer.Exit(_run_one(single, open_store(runs), as_json=as_json))


@dataclass(frozen=True, slots=True)
class Single:
    """One run that is to be shown as it goes."""

    task: "LoadedTask"
    agent: ChosenAgent
    approver: "Approver"
    mode: "Mode"
    conduct: Conduct


def _run_one(order: Single, store: "Store", *, as_json: bool) -> int:
    from sandbox.cli.user_choice import choose_user
    from sandbox.container import engines
    from sandbox.model import places
    from sandbox.model.grade import RunGrade
    from sandbox.run.judged_trial import perform
    from sandbox.run.trial import Trial
    from sandbox.tasks.images import Images

    gc.freeze()  # what has been loaded stays: it is not looked through for garbage
    progress = Progress(sys.stderr if as_json else sys.stdout)
    begun: list[RunFolder] = []
    engine = engines.connect()
    try:
        for warning in order.agent.warnings:
            progress.done(f"warning: {warning}")
        trial = Trial(
            task=order.task,
            image=Images(engine, places.cache()).ensure(order.task, progress.doing),
            agent=order.agent,
            approver=order.approver,
            understand=choose_user(order.conduct.user, order.conduct.user_url, progress.done),
            keep=order.conduct.keep,
            allowance=order.conduct.allowance(),
            mode=order.mode,
            label=order.agent.label,
            actor=order.agent.actor,
            client=order.agent.client,
            inside=order.agent.inside,
        )
        folder = perform(replace(trial, ready=begun.append), engine, store, Display(progress))
    except SandboxError as error:
        for each in begun:
            error.next_step = f"{error.next_step}\n{where_to_look(each)}".strip()
            if as_json and each.grade.is_file():
                _print(each.load(each.grade, RunGrade))
        raise
    except KeyboardInterrupt:
        progress.close()
        for each in begun:
            mutter(f"{where_to_look(each)}\n")
        raise
    finally:
        progress.close()
        engine.close()
    grade = folder.load(folder.grade, RunGrade)
    if as_json:
        _print(grade)
        return EXIT_CODES[grade.verdict]
    for row in (*end_rows(folder.record(), folder), *verdict_rows(grade, FEW)):
        typer.echo(row)
    typer.echo(where_to_look(folder))
    if order.conduct.keep and (container := folder.record().container):
        typer.echo(f"container {container} is kept; `sandbox gc --kept` removes it")
    return EXIT_CODES[grade.verdict]


def _print(grade: "RunGrade") -> None:
    from sandbox.cli import outputs  # the types of all verbs come from all rooms

    outputs.write("run single", grade)
