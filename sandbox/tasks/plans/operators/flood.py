"""Flood: what the table says is spread over a journal that is too long to be read whole."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta

from sandbox.model.plan import PlannedDeed
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.drawing import LETTERS, Drawing
from sandbox.tasks.plans.operators import change_desk, missing_argument
from sandbox.tasks.plans.operators.base import Operator, Setting
from sandbox.tasks.plans.operators.edits import bound_output, expand, more_room, tell
from sandbox.tasks.plans.operators.wording import say
from sandbox.tasks.plans.operators.world_edits import rewrite

NAME = "flood"
LINES = {1: 150, 2: 1500, 3: 1500, 4: 3000, 5: 6000}
"""Entries of the journal, by strength."""

OUTPUT = {4: 1 << 20, 5: 1 << 19}
"""Bytes that the agent may be shown in all, by strength; at 5 that is not twice the journal."""

_WITHDRAWN, _TWICE, _CHAIN = 3, 4, 5
"""The strengths from which on the newest entry of the path was withdrawn; another one does not hold
either; and the one that holds was withdrawn, as was the withdrawal, by a rule at the very end.
"""
_FIRST_DAY = date(2019, 1, 7)
_WORDS = ("archive", "bench", "contrib", "demo", "etc", "legacy", "packaging", "release", "spike")


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Put a journal in the place of the table of paths; what holds in the end is what it said."""
    strength = setting.strength
    rows = missing_argument.table(file)
    own = missing_argument.own_row(
        change_desk.worked_on(file), setting.strengths[missing_argument.NAME]
    )
    journal = _Journal(setting.draw, LINES[strength], tuple(sorted(rows.values())))
    _write(journal, own, rows, missing_argument.elsewhere(file, own), strength)
    head, rule = say(NAME, "head"), say(NAME, "rule" if strength >= _WITHDRAWN else "latest")
    parts = (head, "\n".join(journal.lines()), rule)
    if strength < _CHAIN:
        parts = (head, rule, parts[1])
    whole = "\n\n".join(parts) + "\n"
    file = rewrite(
        file, missing_argument.TABLE, lambda old: missing_argument.ROWS.sub(lambda _: whole, old)
    )
    looks = _looks(own, journal.about(own))
    file = expand(file, lambda deed: looks if _reads_table(deed) else (deed,))
    file = more_room(file, len(looks) - 1)
    if strength not in OUTPUT:
        return file
    most = OUTPUT[strength]
    return bound_output(tell(file, say(NAME, "bounded", most=f"{most:,}")), most)


@dataclass(slots=True)
class _Entry:
    text: str
    path: str | None = None
    """What it is about, where it matters here; withdrawals have the path of what they withdraw."""
    withdraws: "_Entry | None" = None
    number: int = 0


@dataclass(slots=True)
class _Journal:
    """Entries that matter stand in their order at drawn places among those that do not."""

    draw: Drawing
    length: int
    values: tuple[str, ...]
    """What paths are given."""
    entries: list[_Entry] = field(default_factory=list)

    def give(self, path: str, value: str) -> _Entry:
        """Write down what a path is given."""
        entry = _Entry(say(NAME, "entry", path=path, value=value), path)
        self.entries.append(entry)
        return entry

    def withdraw(self, other: _Entry) -> _Entry:
        """Take an entry back."""
        entry = _Entry("", other.path, other)
        self.entries.append(entry)
        return entry

    def about(self, path: str) -> list[int]:
        """Return the numbers of the entries that are about a path, withdrawals included."""
        return [entry.number for entry in self.entries if entry.path == path]

    def lines(self) -> list[str]:
        """Give all entries their numbers and write them out."""
        places = self.draw.shuffled(range(self.length))[: len(self.entries)]
        mine = dict(zip(sorted(places), self.entries, strict=True))
        number, day, found = 1000, _FIRST_DAY, list[str]()
        for place in range(self.length):
            number += 1 + self.draw.below(3)
            day += timedelta(days=self.draw.below(7) == 0)
            entry = mine.get(place)
            if entry is None:
                path = f"{self.draw.choice(_WORDS)}/{self.draw.text(LETTERS, 4)}/"
                text = say(NAME, "entry", path=path, value=self.draw.choice(self.values))
            else:
                entry.number = number
                other = entry.withdraws
                text = say(NAME, "withdrawal", number=other.number) if other else entry.text
            found.append(say(NAME, "line", day=day, number=number, text=text))
        return found


def _write(journal: _Journal, own: str, rows: Mapping[str, str], wrong: str, strength: int) -> None:
    """Write the entries that matter; who stops looking too early comes to `wrong` or another."""
    right, others = rows[own], [row for row in sorted(rows) if row != own]
    third = next((rows[row] for row in others if rows[row] != wrong), wrong)
    for row in others:
        journal.give(row, rows[row])
    if strength != _WITHDRAWN:
        journal.give(own, wrong)
    held = journal.give(own, right)
    if strength == _WITHDRAWN:
        journal.withdraw(journal.give(own, wrong))
    if strength >= _CHAIN:
        journal.withdraw(journal.withdraw(held))
    if strength >= _TWICE:
        journal.withdraw(journal.give(own, third))


def _reads_table(deed: PlannedDeed) -> bool:
    return deed.action == "read_file" and deed.arguments.get("path") == missing_argument.TABLE


def _looks(own: str, numbers: list[int]) -> tuple[PlannedDeed, ...]:
    """What is looked at in the place of the table: its head, the path, and each of its entries."""
    first: dict[str, object] = {"path": missing_argument.TABLE, "line_limit": 12}
    looks = [PlannedDeed.model_validate({"action": "read_file", "arguments": first})]
    for pattern in (own, "|".join(f"#{number}" for number in numbers)):
        arguments = {"path": missing_argument.TABLE, "pattern": pattern, "fixed": pattern == own}
        looks.append(PlannedDeed.model_validate({"action": "search_repo", "arguments": arguments}))
    return tuple(looks)


OPERATOR = Operator(
    name=NAME,
    reason="What decides may stand in the middle of more than can be read, and be taken back.",
    apply=apply,
    draws=True,
    needs=(change_desk.NAME, missing_argument.NAME),
)
