"""Changed list: what a page says of now is of then, once the queue is some tickets further on.

`queue` draws the lists, and lets its desk show them, where this operator stands beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sandbox.model.desk import DeskTool, Reply
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.drawing import Drawing
from sandbox.tasks.plans.operators import tickets
from sandbox.tasks.plans.operators.base import Operator, Setting
from sandbox.tasks.plans.operators.wording import say
from sandbox.tasks.plans.operators.world_edits import rewrite

NAME, NEEDED = "changed-list", "queue"
PAGE, SHOW = "docs/queue.md", "show_list"
CHANGES = {1: 1, 2: 1, 3: 1, 4: 2, 5: 3}
"""By strength: how often the list changes."""
_TOLD, _PAGE, _LINE = 1, 2, 3
"""The first ticket of a new list says that it is new; the page says that tickets name their lists;
nothing does but the line of the ticket. Above, it stands in no line of its own.
"""
_FIRST = 20
"""The number of the first list lies below it."""


@dataclass(frozen=True, slots=True)
class Lists:
    """The lists that hold one after the other, and how the desk and its tickets tell of them."""

    by_start: tickets.Lists
    first: int
    """The number of the first list; each later one has the next."""
    strength: int
    """Of the operator; 0 where it is not there, and one list holds for all tickets."""

    @property
    def starts(self) -> list[int]:
        """Places of the tickets for which a new list holds first."""
        return [start for start in self.by_start if start] if self.strength else []

    @property
    def heading(self) -> str:
        """What stands above the list on the page."""
        return say(NAME, "heading", number=self.first) + "\n\n" if self.strength else ""

    def named(self, place: int, text: str) -> str:
        """Return a ticket's text with the number of its list in it."""
        if not self.strength:
            return text
        number = self._number(place)
        if self.strength > _LINE:
            head, component, rest = text.partition("component: ")
            name, newline, rest = rest.partition("\n")
            return (
                f"{head}{component}{say(NAME, 'beside', name=name, number=number)}{newline}{rest}"
            )
        new = self.strength == _TOLD and place in self.starts
        return f"{text}\n{say(NAME, 'new' if new else 'line', number=number)}"

    def tools(self) -> tuple[DeskTool, ...]:
        """Return the tool that shows the list of now, where there is more than one."""
        if not self.strength:
            return ()
        replies = tuple(
            Reply(
                after=f"settled {start - 1}" if start else None,
                says=say(
                    NAME,
                    "list",
                    number=self._number(start),
                    rows=tickets.table(self.by_start[start]),
                ),
            )
            for start in sorted(self.by_start, reverse=True)
        )
        return (DeskTool(name=SHOW, about=say(NAME, "about"), replies=replies),)

    def _number(self, place: int) -> int:
        return self.first + sum(start <= place for start in self.by_start) - 1


def lists(
    strengths: Mapping[str, int], draw: Drawing, known: list[tickets.Component], count: int
) -> Lists:
    """Draw the lists of a queue of so many tickets; one alone where the operator is not there."""
    strength = strengths.get(NAME, 0)
    if not strength:
        return Lists({0: known}, 0, 0)
    found, taken = {0: known}, {each.number for each in known}
    changes = min(CHANGES[strength], count // 2)
    span = count // (changes + 1)
    for change in range(1, changes + 1):
        known = tickets.renumbered(draw, known, taken)
        taken |= {each.number for each in known}
        found[change * span + draw.below(max(1, span // 2))] = known
    return Lists(found, 1 + draw.below(_FIRST), strength)


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Say on the page that the list is the ticket's, and perhaps how that is seen."""
    key = "page" if setting.strength <= _PAGE else "page-short"
    return rewrite(file, PAGE, lambda page: f"{page}\n{say(NAME, key)}\n")


OPERATOR = Operator(
    name=NAME,
    reason="Who has read a page once knows what it said then, and not what holds now.",
    apply=apply,
    draws=True,
    needs=(NEEDED,),
)
