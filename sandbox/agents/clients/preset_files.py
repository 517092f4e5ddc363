"""The presets that come with the project."""

import difflib
from pathlib import Path

from sandbox.agents.clients.preset import Preset
from sandbox.model.documents import load
from sandbox.model.errors import UsageError

FOLDER = Path(__file__).parent / "presets"


def names() -> list[str]:
    """Names of all presets."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def find(name: str) -> Preset:
    """Read a preset; UsageError where there is none of that name."""
    known = names()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=2)
        advice = f"Did you mean {' or '.join(near)}?" if near else f"There are {', '.join(known)}."
        raise UsageError(f"There is no preset {name!r}.", advice)
    return load(FOLDER / f"{name}.yaml", Preset)
