"""The rewording file: `run/rewordings/catalog.yaml`, ways to do the same otherwise."""

from typing import Literal

from pydantic import Field, RootModel

from sandbox.model.base import Record

Kind = Literal["reads", "looks", "tests", "edits"]
"""Actions that can be done by shell: reading a file; listing, searching and comparing; running
tests; writing files and applying patches."""


class Rewording(Record):
    """One way. Braces in its lines are those of `str.format`."""

    name: str = Field(pattern=r"^[a-z0-9-]+$")
    title: str = Field(min_length=1)
    """What it does, in a sentence."""
    turns: tuple[Kind, ...]
    """Which actions become shell lines."""
    reading: str = "cat -- {file}"
    """What reading a file becomes."""
    line: str = "{plain}"
    """What becomes of each shell line."""
    before: str | None = None
    """A line in front of each shell line of the agent's, as an action of its own."""
    once: bool = False
    """Whether that line comes only in front of the first."""
    spelt: dict[str, str] = {}
    """By word at the beginning of a command: what stands in its place."""
    joined: bool = False
    """Whether lines that follow each other become one."""


class Rewordings(RootModel[tuple[Rewording, ...]]):
    """All of them."""
