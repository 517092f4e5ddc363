"""A foreign image: what a task's own image is made on, where it comes from another format."""

from typing import Literal

from pydantic import Field

from sandbox.model.base import Record

Network = Literal["bridge", "host", "none"]


class Container(Record):
    """Built from a Dockerfile of the task's, before what every image of ours has is added."""

    context: str
    """A folder beside the task file."""
    dockerfile: str = "Dockerfile"
    """In the context, with one line `FROM`."""
    base: str = ""
    """The image of ours that stands for what it is `FROM`, a row of `images/foreign/bases.yaml`;
    empty where its own is pulled."""
    workdir: str = Field(pattern=r"^(/[A-Za-z0-9._-]+)+$")
    """Where the checkout is found, too: a link that leads to it."""
    packages: tuple[str, ...] = ()
    """Packages of its distribution that the author's tests want."""
    variables: dict[str, str] = {}
    """What its commands find in their environment."""
    network: Network = "bridge"
    """What the lines of its Dockerfile may reach while it is built: what the engine's own network
    leads to, all that this machine reaches (its own services among it), or nothing."""


class Base(Record):
    """What stands for some images of others."""

    match: str
    """A glob over the reference of an image."""
    image: str
    """A folder of `images/`."""
    packages: tuple[str, ...] = ()
    """Of the distribution, which the other image has."""
    commands: tuple[str, ...] = ()
    """Shell lines, run as root."""
