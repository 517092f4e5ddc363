"""Plots of a page: numbers that go into it as data, and the library that draws them.

The library is not a part of this project: it is fetched by a pinned digest, as what tasks need is.
A wheel carries the archive.
"""

import tarfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from sandbox.cli.pages.page import asset
from sandbox.model import documents, places
from sandbox.model.artifact import Artifact
from sandbox.model.errors import SourceError
from sandbox.tasks.sources.cache import Sources

PIN = Path(__file__).with_name("plots.yaml")
CARRIED = PIN.with_name("carried")
"""Where a wheel has it."""
_SCRIPT, _STYLE = "package/dist/uPlot.iife.min.js", "package/dist/uPlot.min.css"
_LICENCE = "package/LICENSE"


@dataclass(frozen=True, slots=True)
class Line:
    """Points of one colour, by growing x."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines, or points where `points` says so, in one frame."""

    title: str
    x: str
    y: str
    lines: Sequence[Line]
    points: bool = False

    def data(self) -> dict[str, object]:
        """Give what the page's script draws."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Library:
    """The library as text; empty, with the problem, where it cannot be had."""

    scripts: tuple[str, ...] = ()
    style: str = ""
    problem: str = ""


def library(on_line: Callable[[str], None]) -> Library:
    """Read the library from the cache, where it is fetched to if need be."""
    pin = documents.load(PIN, Artifact)
    sources = Sources(places.cache())  # which installs no npm where there is none
    try:
        if (carried := CARRIED / pin.filename).is_file() and not sources.cached(pin):
            sources.adopt(pin, carried)
        file = sources.fetch(pin, on_line)
    except SourceError as error:
        return Library(problem=f"{error.message} {error.next_step}")
    with tarfile.open(file) as archive:
        script = f"/*\n{_text(archive, _LICENCE)}*/\n{_text(archive, _SCRIPT)}"
        return Library((script, asset("plots.js")), _text(archive, _STYLE))


def _text(archive: tarfile.TarFile, name: str) -> str:
    member = archive.extractfile(name)
    assert member is not None, f"{PIN} pins an archive without {name}"  # noqa: S101
    return member.read().decode()
