"""What whoever starts a run allows it to take, where that is less than the task does."""

from pydantic import Field

from sandbox.model.base import Record


class Allowance(Record):
    """Bounds besides the task's own; None where nothing more is said."""

    turns: int | None = Field(default=None, ge=1)
    seconds: float | None = Field(default=None, gt=0)
    tokens: int | None = Field(default=None, ge=1)
    """Of input and output together, as the agent tells them with its requests."""
    cost: float | None = Field(default=None, gt=0)
    """In the agent's currency."""

    def __str__(self) -> str:
        """Name the bounds, as reports tell runs under one from others."""
        words = (
            (self.turns, "turns"),
            (self.seconds, "s"),
            (self.tokens, "tokens"),
            (self.cost, "cost"),
        )
        told = [f"{value:,.10g} {unit}" for value, unit in words if value is not None]
        return f"at most {', '.join(told)}" if told else ""


UNBOUNDED = Allowance()
