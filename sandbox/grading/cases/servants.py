"""The servants' programs, as they lie in a container while something is called there."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from sandbox.container.engines.base import Session
from sandbox.grading.testers import drawn_folder
from sandbox.model.session import ROOT

RUNNERS = Path(__file__).parent.with_name("runners")


@contextmanager
def laid(session: Session) -> Iterator[str]:
    """Give the folder that they lie in, each called as its language is."""
    folder = drawn_folder()
    for language, source in _sources().items():
        session.write(f"{folder}/{language}", source, mode=0o444, user=ROOT, parents=True)
    yield folder
    for language in _sources():
        session.remove(f"{folder}/{language}", user=ROOT)
    session.remove(folder, user=ROOT)


@cache
def _sources() -> dict[str, bytes]:
    """Give the sources, each in one piece."""
    python, wire = ((RUNNERS / name).read_text() for name in ("servant.py", "wire.py"))
    return {
        "python": f"WIRE = {wire!r}\n{python}".encode(),
        "javascript": (RUNNERS / "servant.js").read_bytes(),
    }
