"""Tasks that need no folder: `<repo>/<draft>-<digest of a seed>`, written when asked for."""

import re
from pathlib import Path

from sandbox.model.errors import UsageError
from sandbox.model.places import PASSING
from sandbox.tasks.drafts import kept_folder, layout, planting, seed_folder

NAME = re.compile(r"(?P<repo>[^/]+)/(?P<draft>[a-z]+)-(?P<seed>[0-9a-f]{8})")


def folder(name: str) -> Path | None:
    """Give the folder of a seed's task, in the cache; None where the name is of no seed.

    UsageError where nothing says which tests pass without the defect, or as `plant` raises;
    DocumentError.
    """
    found = NAME.fullmatch(name)
    if found is None or found["draft"] not in layout.names():
        return None
    path = seed_folder.folders().get(found["repo"])
    if path is None:
        return None
    kept = kept_folder.place(path, name)
    if not kept.is_dir():
        _write(path, found["draft"], found["seed"], kept)
    return kept if kept.is_dir() else None


def _write(path: Path, draft: str, digest: str, kept: Path) -> None:
    """Write a task's folder, where there is such a seed."""
    of = seed_folder.load_at(path)
    seed = next((each for each in of.seeds.seeds if each.id.endswith(f"-{digest}")), None)
    if seed is None:
        return
    passing = (of.under_sanitizers() if seed.sanitized else of).passing
    if not passing:
        raise UsageError(
            f"Nothing says which tests of {of.path.name} pass without a defect.",
            f"sandbox mine {of.path.name} --check writes them into {of.path / PASSING}.",
        )
    kept_folder.write(of, kept, lambda made: planting.plant(of, seed, draft, made, passing))
