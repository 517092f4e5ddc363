"""What passes between an open session and its callers: a line each way, JSON, told by `kind`."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue, TypeAdapter

from sandbox.model.base import Record
from sandbox.model.briefing import Reply


class Call(Record):
    """Perform one action."""

    kind: Literal["call"] = "call"
    action: str
    arguments: dict[str, JsonValue] = {}


class Unread(Record):
    """An action was meant whose arguments cannot be read: nothing is done, and no turn is used."""

    kind: Literal["unread"] = "unread"
    action: str
    problem: str


class Close(Record):
    """End the run. The connection ends when the run is graded."""

    kind: Literal["close"] = "close"


class Performed(Record):
    """The answer to a call: `run_over` where it came, or its turn came, after the end."""

    kind: Literal["performed"] = "performed"
    reply: Reply


class Closing(Record):
    """The answer to `close`."""

    kind: Literal["closing"] = "closing"


class KeptOpen(Record):
    """The answer to `close` where the last thing done was an answer that was refused.

    The run goes on; the next `close` ends it.
    """

    kind: Literal["kept_open"] = "kept_open"
    problem: str


class NotUnderstood(Record):
    """The answer to a line that asks for nothing of this; the run does not learn of it."""

    kind: Literal["not_understood"] = "not_understood"
    problem: str


Asked = Annotated[Call | Unread | Close, Field(discriminator="kind")]
Answered = Annotated[Performed | Closing | KeptOpen | NotUnderstood, Field(discriminator="kind")]

ASKED: TypeAdapter[Call | Unread | Close] = TypeAdapter(Asked)
ANSWERED: TypeAdapter[Performed | Closing | KeptOpen | NotUnderstood] = TypeAdapter(Answered)
