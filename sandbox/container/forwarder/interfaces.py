"""The interfaces of models that are passed on, as data: their paths, and where the key stands."""

import functools
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import unquote

from sandbox.model.base import Record
from sandbox.model.documents import load

PLACEHOLDER = "the-key-stays-outside"
"""What the agent has in place of a key; many clients do not start without one."""


class Interface(Record):
    """Requests that carry the key in the same way."""

    paths: tuple[str, ...]
    """Globs; `*` stands for slashes, too."""
    headers: dict[str, str]
    """Headers with the key; `{key}` stands for it."""


class Interfaces(Record):
    """All of them."""

    environment: dict[str, str]
    """Variables of the agent; `{url}` is the forwarder's, `{placeholder}` the key that is none."""
    interfaces: tuple[Interface, ...]


@functools.cache
def interfaces() -> Interfaces:
    """Read the table."""
    return load(Path(__file__).with_name("interfaces.yaml"), Interfaces)


def environment(port: int) -> dict[str, str]:
    """Tell an agent of its model, which is at this port of its loopback."""
    url = f"http://127.0.0.1:{port}"
    found = interfaces().environment
    return {name: text.format(url=url, placeholder=PLACEHOLDER) for name, text in found.items()}


def credentials(path: str, key: str) -> dict[str, str] | None:
    """Give the headers that go with a request for a path; None where it is not passed on.

    The path is as it was sent: what only looks like one of an interface is none.
    """
    plain = unquote(path)
    if plain != unquote(plain) or "\\" in plain or {"", ".", ".."} & set(plain.split("/")[1:]):
        return None
    for each in interfaces().interfaces:
        if any(fnmatchcase(plain, glob) for glob in each.paths):
            return {name: text.format(key=key) for name, text in each.headers.items() if key}
    return None
