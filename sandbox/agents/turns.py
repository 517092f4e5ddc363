"""A trace turn by turn: each action of the agent, what it said before, and what came of it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from sandbox.model.event import ActionTaken, Claimed, Entry, Observed
from sandbox.model.fact import UserSaid
from sandbox.model.observation import Observation


@dataclass(slots=True)
class Turn:
    """One action of the agent."""

    number: int
    """From 1."""
    began: Entry
    action: ActionTaken
    claims: Sequence[Claimed]
    """What the agent said since the action before."""
    ended: Entry | None = None
    """None where the run's end cut the action off."""
    observation: Observation | None = None
    between: list[Entry] = field(default_factory=list)
    """Approvals, programs, facts and milestones that belong to the action."""

    @property
    def call(self) -> str:
        """Its id in other formats: `call_1`, `call_2`, ..."""
        return f"call_{self.number}"

    @property
    def seconds(self) -> float | None:
        """How long it took; None where it was cut off."""
        return None if self.ended is None else round(self.ended.elapsed - self.began.elapsed, 6)

    @property
    def heard(self) -> tuple[str, ...]:
        """What the user said unasked, which the answer to it tells."""
        events = (entry.event for entry in self.between)
        return tuple(
            event.text for event in events if isinstance(event, UserSaid) and not event.question
        )

    def said(self, about: str) -> str:
        """Join the agent's claims of a kind."""
        return "\n".join(claim.text for claim in self.claims if claim.about == about)


def turns(entries: Sequence[Entry]) -> list[Turn]:
    """Give the agent's actions in their order."""
    going_on: dict[str | None, Turn] = {}
    found: list[Turn] = []
    claims: list[Claimed] = []
    for entry in entries:
        event = entry.event
        turn = going_on.get(entry.action_id)
        if isinstance(event, ActionTaken):
            turn = Turn(len(found) + 1, entry, event, tuple(claims))
            claims = []
            going_on[entry.action_id] = turn
            found.append(turn)
        elif isinstance(event, Claimed):
            claims.append(event)
        elif isinstance(event, Observed) and turn is not None:
            turn.ended, turn.observation = entry, event.observation
            del going_on[entry.action_id]
        elif turn is not None:
            turn.between.append(entry)
    return found


def content(observation: Observation, heard: Sequence[str] = ()) -> str:
    """Give what a model with tools reads of an observation, and of what the user said with it."""
    told = observation.model_dump(mode="json", exclude_none=True)
    said = {"said": list(heard)} if heard else {}
    return json.dumps({**told, **said}, ensure_ascii=False)
