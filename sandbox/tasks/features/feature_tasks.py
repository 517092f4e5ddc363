"""Tasks that need no folder: `<repo>/clauses-<count>-<number>`, written when asked for."""

import re
from pathlib import Path

from sandbox.model.errors import UsageError
from sandbox.tasks.drafts import kept_folder, seed_folder
from sandbox.tasks.features import feature
from sandbox.tasks.features.drawn_clauses import LEAST, MOST

NAME = re.compile(r"(?P<repo>[^/]+)/clauses-(?P<count>[1-9][0-9]*)-(?P<number>[1-9][0-9]{0,5})")
OWN = Path(__file__).parent


def folder(name: str) -> Path | None:
    """Give the folder of a feature's task, in the cache; None where the name is of none.

    UsageError where there cannot be so many clauses, and as `feature.write` raises; DocumentError.
    """
    found = NAME.fullmatch(name)
    path = seed_folder.folders().get(found["repo"]) if found else None
    if found is None or path is None:
        return None
    count, number = int(found["count"]), int(found["number"])
    if not LEAST <= count <= MOST:
        raise UsageError(
            f"{name} asks for {count} clauses, and a specification has {LEAST} to {MOST}.",
            f"Say how many between the two dashes, as in {found['repo']}/clauses-{LEAST}-{number}.",
        )
    kept = kept_folder.place(path, name, _made_by())
    if not kept.is_dir():
        of = seed_folder.load_at(path)
        kept_folder.write(of, kept, lambda made: feature.write(of, count, number, made))
    return kept


def _made_by() -> list[Path]:
    return sorted(path for path in OWN.rglob("*") if path.is_file() and path.suffix != ".pyc")
