"""What a model has used, as its agent says: a claim, which no verdict rests on."""

from pydantic import Field

from sandbox.model.base import Record


class ModelUsage(Record):
    """Of one request, or of a run."""

    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cached_tokens: int = Field(default=0, ge=0)
    """Those of the input that came from a cache."""
    cost: float | None = Field(default=None, ge=0)
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
