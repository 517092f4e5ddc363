"""What a model says of pairs of runs by a rubric, and how far it can be believed.

Kept beside the runs and never in them: no verdict, report or gate looks at it.
"""

from typing import Annotated, Literal

from pydantic import Field

from sandbox.model.base import Record
from sandbox.model.usage import ModelUsage

Better = Literal["first", "second", "equal"]
Shown = Literal["prompt", "patch", "answer"]
Text = Annotated[str, Field(min_length=1)]


class Rubric(Record):
    """What is asked of each pair."""

    question: Text
    criteria: Annotated[tuple[Text, ...], Field(min_length=1)]
    shown: Annotated[tuple[Shown, ...], Field(min_length=1)] = ("prompt", "patch", "answer")
    """The task's prompt, what each run changed, its final answer."""
    times: int = Field(default=3, ge=1, le=25)
    """How often each pair is shown in each order."""


class Label(Record):
    """What a person says of a pair."""

    first: Text
    """The start of a run's name."""
    second: Text
    better: Better


class Labels(Record):
    """A file of labels."""

    pairs: Annotated[tuple[Label, ...], Field(min_length=1)]


class Opinion(Record):
    """One answer of the model."""

    swapped: bool
    """Whether the second run was shown first."""
    better: Better | None
    """In the order of the pair, however it was shown; None where the answer cannot be used."""
    reason: str


class JudgedPair(Record):
    """Two runs of different agents on a task, and what the model said of them."""

    task: str
    first: str
    """A run's id."""
    second: str
    opinions: tuple[Opinion, ...]
    better: Better | None
    """What most answers say in either order; `equal` where the orders disagree, None where in one
    of them no answer can be used."""


class Agreement(Record):
    """How far two or more judges say the same, beyond chance."""

    pairs: int
    """That all of them have judged."""
    observed: float | None
    """The share of which they say the same; None of nothing."""
    kappa: float | None
    """None where chance alone explains all: they say one and the same of every pair."""


class Judgement(Record):
    """All pairs of an experiment."""

    experiment: str
    model: str
    rubric: Rubric
    pairs: tuple[JudgedPair, ...]
    orders: Agreement
    """Between the two orders in which a pair is shown: low where the place decides."""
    repeats: Agreement
    """Among the answers to the same question: low where they are drawn."""
    labels: Agreement | None
    """With labels of people; None where none were given."""
    usage: ModelUsage
