"""The words for how a run ended. The command line's help names them, and waits for no model."""

from typing import Literal

How = Literal[
    "answered",
    "gave_up",
    "crashed",
    "silent",
    "garbled",
    "budget",
    "provider_error",
    "interrupted",
    "machinery",
]
"""`gave_up` is an agent that ended in good order without an answer, `crashed` one that did not;
`budget` is any limit of the task's or of who started the run."""
