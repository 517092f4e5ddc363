"""The presets that come with the project, and those that somebody wrote into a file."""

import difflib
import hashlib
from pathlib import Path

from sandbox.agents.clients.preset import Preset
from sandbox.model.documents import load
from sandbox.model.errors import UsageError

FOLDER = Path(__file__).parent / "presets"
FILE = "preset:"
"""Before the path of a file, where an agent is named."""


def names() -> list[str]:
    """Names of the presets that come with the project."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def named(agent: str) -> bool:
    """Whether what names an agent names a preset: ours, or `preset:FILE`."""
    return agent.startswith(FILE) or agent in names()


def file_of(agent: str) -> Path | None:
    """Give the file of a preset that somebody wrote, by `preset:FILE` or its path alone."""
    if agent.startswith(FILE):
        return Path(agent.removeprefix(FILE))
    return Path(agent) if agent.endswith((".yaml", ".yml")) else None


def find(name: str) -> Preset:
    """Read a preset by its name or its file.

    UsageError where there is none of that name, and where a file takes the name of one of ours;
    DocumentError for a file that is no preset.
    """
    known = names()
    file = file_of(name)
    if file is not None:
        found = load(file, Preset)
        if found.name in known:
            raise UsageError(
                f"{file}: the name {found.name} is that of a preset that comes with the project.",
                "Give it another one: reports and the safety gate tell clients apart by name.",
            )
        return found
    if name not in known:
        near = difflib.get_close_matches(name, known, n=2)
        advice = f"Did you mean {' or '.join(near)}?" if near else f"There are {', '.join(known)}."
        raise UsageError(f"There is no preset {name!r}.", f"{advice} A file is named by its path.")
    return load(FOLDER / f"{name}.yaml", Preset)


def digest(preset: Preset) -> str:
    """Identify a preset by its content."""
    return hashlib.sha256(preset.model_dump_json().encode()).hexdigest()
