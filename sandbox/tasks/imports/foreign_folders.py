"""Folders of tasks in other formats, read without running anything of them."""

from dataclasses import replace
from pathlib import Path

from sandbox.model.listing import some
from sandbox.tasks.imports import folders, harbor, terminal_bench
from sandbox.tasks.imports.foreign_task import Foreign, Kind, refuse

LONGEST = 100
"""Characters of a name."""
SHOWN = 3
"""Paths that a note names."""
_READERS = {"harbor": harbor.read, "terminal-bench": terminal_bench.read}


def read(kind: Kind, folder: Path) -> Foreign:
    """Read a task's folder; DocumentError names what it lacks, or what cannot be kept at all."""
    files, odd = folders.read(folder)
    found = _READERS[kind](folder, files)
    if not found.name.isprintable() or len(found.name) > LONGEST:
        refuse(folder, ["its name is not a plain one"])
    if not found.instruction:
        refuse(folder, ["it tells the agent nothing"])
    notes = (*found.notes, f"Links were left out: {some(odd, SHOWN)}.") if odd else found.notes
    return replace(found, notes=notes, digest=folders.digest(files))
