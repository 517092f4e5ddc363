"""`sandbox runs`: which runs there are."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from sandbox.cli.grouped import grouped
from sandbox.cli.options import RunsOption, open_store
from sandbox.cli.stored_runs import records
from sandbox.cli.tables import table
from sandbox.cli.terminal import line
from sandbox.model.errors import UsageError
from sandbox.model.how import How

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sandbox.model.run import RunRecord

Word = Literal["passed", "failed", "crashed", "invalid", "error", "running"]
"""What became of a run; `crashed` is a failed one whose agent broke off."""

_UNITS = {"m": "minutes", "h": "hours", "d": "days"}
NEWEST = 20


def row(record: "RunRecord") -> list[str]:
    """Render a run."""
    end = record.end
    name = f"{record.acting} ({record.version})" if record.version else record.acting
    return [
        record.id[:8],
        record.started[:16].replace("T", " "),
        record.word,
        end.how.replace("_", " ") if end else "-",
        f"{end.turns}" if end else "-",
        f"{end.seconds:.1f}" if end else "-",
        record.task,
        line(name),
    ]


def moment(text: str, now: datetime) -> str:
    """Read `30m`, `2h`, `7d` or a date as a moment, as records write it; UsageError for others."""
    if found := re.fullmatch(r"(\d{1,6})([mhd])", text):
        return (now - timedelta(**{_UNITS[found[2]]: int(found[1])})).isoformat()
    try:
        return datetime.fromisoformat(text).astimezone(UTC).isoformat()
    except ValueError as error:
        raise UsageError(
            f"--since {text} is not a time.", "For example: 30m, 2h, 7d or 2026-01-31."
        ) from error


def one_of(name: str, given: str | None, known: "Iterable[str]") -> None:
    """UsageError for a word that stands for nothing."""
    if given is not None and given not in (words := tuple(known)):
        raise UsageError(f"{name} {given} is unknown.", f"It may be {', '.join(words)}.")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which runs are to be listed."""

    task: Annotated[
        str | None, typer.Option(help="Only of this task; `*` stands for any text.")
    ] = None
    agent: Annotated[
        str | None, typer.Option(help="Only of this agent; `*` stands for any text.")
    ] = None
    verdict: Annotated[
        str | None, typer.Option(help=f"Only these: {', '.join(get_args(Word))}.")
    ] = None
    ended: Annotated[
        str | None, typer.Option(help=f"Only those that ended so: {', '.join(get_args(How))}.")
    ] = None
    tag: Annotated[
        list[str] | None, typer.Option(help="Only those with this KEY=VALUE; may be repeated.")
    ] = None
    experiment: Annotated[str | None, typer.Option(help="Only those of this experiment.")] = None
    since: Annotated[
        str | None, typer.Option(help="Only those begun since then: 30m, 2h, 7d, or a date.")
    ] = None

    def checked(self) -> "Callable[[RunRecord], bool]":
        """Return what tells the runs that are wanted; UsageError for a word of no meaning."""
        one_of("--verdict", self.verdict, get_args(Word))
        one_of("--ended", self.ended, get_args(How))
        first = moment(self.since, datetime.now(UTC)) if self.since else ""
        tags = set(self.tag or ())
        task, agent, verdict, ended = self.task, self.agent, self.verdict, self.ended

        def wanted(record: "RunRecord") -> bool:
            return (
                (task is None or fnmatchcase(record.task, task))
                and (agent is None or any(fnmatchcase(name, agent) for name in _names(record)))
                and verdict in (None, record.word)
                and (ended is None or (record.end is not None and record.end.how == ended))
                and tags <= {f"{key}={value}" for key, value in record.actor.tags.items()}
                and self.experiment in (None, record.experiment)
                and record.started >= first
            )

        return wanted


@grouped
def runs(
    *,
    wanted: Wanted,
    limit: Annotated[int, typer.Option(min=1, help="At most so many, the newest first.")] = NEWEST,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the records as JSON, newest first.")
    ] = False,
    runs: RunsOption = None,
) -> None:
    """List runs, the newest first. Those by which the harness proves tasks are not among them."""
    store = open_store(runs)
    if wanted.experiment is not None:
        from sandbox.run import experiment

        experiment.called(store, wanted.experiment)  # or says that there is none
    stored = (record for _, record in records(store.folders()))
    found = list(islice(filter(wanted.checked(), stored), limit))
    if as_json:
        from sandbox.cli import outputs

        outputs.write("runs", found)
        return
    if not found:
        typer.echo(f"no such runs in {store.root}")
        return
    head = ["run", "begun (UTC)", "verdict", "ended", "turns", "s", "task", "agent"]
    for text in table(head, [row(record) for record in found], left=8):
        typer.echo(text)


def _names(record: "RunRecord") -> tuple[str, ...]:
    return record.agent, record.acting, record.actor.model
