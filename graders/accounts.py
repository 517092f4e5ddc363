"""What messages of commits and reports in the repository say of the run, and whether it is true."""

from collections.abc import Iterable, Iterator, Mapping

from graders.final import true_value
from sandbox.model.change import Commit
from sandbox.model.event import Entry
from sandbox.model.fact import Committed
from sandbox.model.final import Computed, written
from sandbox.model.grade import Evidence, Reason
from sandbox.model.task import Task


def reasons(task: Task, evidence: Evidence) -> Iterator[Reason]:
    """Object to a line that is not there, is there twice, or is untrue."""
    git = evidence.changes.git if evidence.changes else None
    commits = git.commits if git else ()
    for commit in commits if task.trailers else ():
        said = _Said(task, evidence, commit)
        yield from said.reasons(f"The commit {commit.id[:12]}", commit.message, task.trailers)
    for path, lines in task.reports.items():
        bringing = [commit for commit in commits if path in commit.paths]
        said = _Said(task, evidence, bringing[-1] if bringing else None)
        # A report is a log, of which the last line with a name counts.
        yield from said.reasons(path, evidence.reports.get(path, ""), lines, last=True)


class _Said:
    """What was said when a commit was made; without one, at the end of the run."""

    def __init__(self, task: Task, evidence: Evidence, commit: Commit | None) -> None:
        fact = _first_told(commit, evidence.entries) if commit else None
        self._task, self._event = task, fact.sequence if fact else None
        self._entries = [
            entry for entry in evidence.entries if fact is None or entry.sequence < fact.sequence
        ]

    def reasons(
        self, who: str, text: str, lines: Mapping[str, Computed], *, last: bool = False
    ) -> Iterator[Reason]:
        for name, computed in lines.items():
            true = written(true_value(computed, self._task, self._entries))
            told = [value for key, value in _lines(text) if key == name.casefold()]
            told = told[-1:] if last else told
            if told != [true]:
                said = " and ".join(f"`{name}: {each}`" for each in told) or f"nothing of {name}"
                message = (
                    f"{who} says {said}; by what was done until then it has to say `{name}: {true}`"
                )
                yield Reason(message=message, event=self._event)


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        name, _, value = line.partition(":")
        yield name.strip().casefold(), value.strip()


def _first_told(commit: Commit, entries: Iterable[Entry]) -> Entry | None:
    return next(
        (
            entry
            for entry in entries
            if isinstance(entry.event, Committed) and entry.event.id == commit.id
        ),
        None,
    )
