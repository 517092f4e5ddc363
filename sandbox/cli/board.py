"""Several runs as they go on: at a terminal a table that changes, elsewhere a line for each end."""

import contextlib
import io
import threading
import time
from dataclasses import dataclass
from types import TracebackType
from typing import IO, TYPE_CHECKING, Self, cast

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from sandbox.cli.event_text import described
from sandbox.cli.terminal import Progress, line

if TYPE_CHECKING:
    from sandbox.model.event import Entry
    from sandbox.model.job import Job

PER_SECOND = 4
NARROW = 100
"""Columns below which a run's task and agent are cut, not its action."""


@dataclass(slots=True)
class Used:
    """What models have used, as far as agents tell it."""

    tokens: int = 0
    cost: float | None = None

    def add(self, tokens: int, cost: float | None) -> None:
        """Count what one request, or one run, has used."""
        self.tokens += tokens
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost

    def told(self) -> tuple[str, str]:
        """Give both for a person, empty what nobody told."""
        tokens = f"{self.tokens:,}" if self.tokens else ""
        return tokens, "" if self.cost is None else f"{self.cost:.3f}"


class Row:
    """One run that goes on; hears of it from the thread that does it."""

    def __init__(self, job: "Job") -> None:
        self.job = job
        self.began = time.monotonic()
        self.turns = 0
        self.used = Used()
        self.now = ""

    def stage(self, text: str) -> None:
        """Note what the harness is doing."""
        self.now = text

    def entry(self, entry: "Entry") -> None:
        """Note what the agent is doing, and what it says that its model has used."""
        event = entry.event
        if event.kind == "action":
            self.turns += 1
            self.now = described(event)
            if event.usage is not None:
                tokens = event.usage.input_tokens + event.usage.output_tokens
                self.used.add(tokens, event.usage.cost)
        elif event.kind == "run_ended":
            self.now = "grading"


class Board:
    """Rows of runs, and a sentence below them; lines that stay go above."""

    def __init__(self, progress: Progress, stream: IO[str] | None) -> None:
        self._progress = progress
        self._rows: list[Row] = []
        self._over = Used()
        self._says = ""
        self._lock = threading.Lock()
        self._console = self._live = None
        if stream is not None and stream.isatty():
            self._console = Console(
                file=cast("IO[str]", _Forgiving(stream)), highlight=False, markup=False, emoji=False
            )
            self._live = Live(
                self,
                console=self._console,
                refresh_per_second=PER_SECOND,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )

    def __enter__(self) -> Self:
        """Begin to show, in a terminal."""
        if self._live:
            self._progress.close()
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the table away; lines stay."""
        if self._live:
            self._live.stop()

    def begun(self, job: "Job") -> Row:
        """Add a run; from any thread."""
        row = Row(job)
        with self._lock:
            self._rows.append(row)
        return row

    def over(self, job: "Job") -> None:
        """Take a run away."""
        with self._lock:
            for row in self._rows:
                if row.job == job:
                    self._over.add(row.used.tokens, row.used.cost)
            self._rows = [row for row in self._rows if row.job != job]

    def done(self, text: str) -> None:
        """Print a line that stays."""
        if self._console is None:
            self._progress.done(text)
        else:
            self._console.print(Text.from_ansi(text), soft_wrap=True)

    def doing(self, text: str) -> None:
        """Say how far it is."""
        self._says = text
        if self._console is None:
            self._progress.doing(text)

    def __rich__(self) -> RenderableType:
        """Draw what goes on now."""
        with self._lock:
            rows = list(self._rows)
            all_used = Used(self._over.tokens, self._over.cost)
        for row in rows:
            all_used.add(row.used.tokens, row.used.cost)
        tokens, cost = all_used.told()
        told = [self._says, tokens and f"{tokens} tokens", cost and f"cost {cost}"]
        says = Text(", ".join(filter(None, told)), style="dim")
        return Group(self._table(rows), says) if rows else says

    def _table(self, rows: list[Row]) -> Table:
        table = Table(box=None, padding=(0, 1, 0, 0), expand=True)
        narrow = self._console is not None and self._console.width < NARROW
        told = any(row.used.tokens for row in rows)
        table.add_column("task", no_wrap=True, max_width=20 if narrow else 44)
        table.add_column("agent", no_wrap=True, max_width=12 if narrow else 24)
        table.add_column("for", justify="right", no_wrap=True)
        table.add_column("turns", justify="right", no_wrap=True)
        if told:
            table.add_column("tokens", justify="right", no_wrap=True)
            table.add_column("cost", justify="right", no_wrap=True)
        table.add_column("now", no_wrap=True, ratio=1)
        for row in rows:
            table.add_row(
                line(f"{row.job.task} {row.job.trial}"),
                line(row.job.agent),
                clock(time.monotonic() - row.began),
                str(row.turns),
                *(row.used.told() if told else ()),
                line(row.now),
            )
        return table


def clock(seconds: float) -> str:
    """A span of time for people."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class _Forgiving(io.TextIOBase):
    """A terminal that may go away: what cannot be shown is lost, and nothing else."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Show, if that is possible."""
        with contextlib.suppress(OSError, UnicodeError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Show now, if that is possible."""
        with contextlib.suppress(OSError, UnicodeError, ValueError):
            self._stream.flush()

    def isatty(self) -> bool:
        """Say yes: it is used for terminals alone."""
        return True

    def fileno(self) -> int:
        """Give the terminal's descriptor."""
        return self._stream.fileno()
