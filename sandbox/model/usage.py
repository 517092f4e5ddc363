"""What a model has used, as its agent says: a claim, which no verdict rests on."""

from typing import Annotated

from pydantic import AfterValidator, Field, RootModel

from sandbox.model.base import Record

MOST = 10**12
"""Of tokens, or of money: who claims more is believed no more, and sums stay numbers."""

Tokens = Annotated[int, Field(ge=0), AfterValidator(lambda count: min(count, MOST))]
Cost = Annotated[float, Field(ge=0), AfterValidator(lambda cost: min(cost, float(MOST)))]


class ModelUsage(Record):
    """Of one request, or of a run."""

    input_tokens: Tokens = 0
    output_tokens: Tokens = 0
    cached_tokens: Tokens = 0
    """Those of the input that came from a cache."""
    cost: Cost | None = None
    """In the agent's currency; None where it names none."""


def total(parts: list[ModelUsage]) -> ModelUsage | None:
    """Add up; None of nothing. The cost is None unless one part names one."""
    if not parts:
        return None
    costs = [part.cost for part in parts if part.cost is not None]
    return ModelUsage(
        input_tokens=sum(part.input_tokens for part in parts),
        output_tokens=sum(part.output_tokens for part in parts),
        cached_tokens=sum(part.cached_tokens for part in parts),
        cost=sum(costs) if costs else None,
    )


class Price(Record):
    """What a model costs per million tokens, in any one currency."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)
    """Of input from a cache; that of other input where it is left out."""

    def of(self, usage: ModelUsage) -> float:
        """Return what some tokens cost; those from a cache are a part of the input."""
        cached = min(usage.cached_tokens, usage.input_tokens)
        return (
            self.input * (usage.input_tokens - cached)
            + (self.input if self.cached is None else self.cached) * cached
            + self.output * usage.output_tokens
        ) / 1_000_000


class Prices(RootModel[dict[str, Price]]):
    """A file of prices, by the model's name."""
