"""A defect that an author made by hand, in a copy of a release."""

from pathlib import Path

from sandbox.model.errors import UsageError
from sandbox.tasks.differences import lines_of
from sandbox.tasks.seeds.edits import edits_of
from sandbox.tasks.seeds.mined_repository import MinedRepository
from sandbox.tasks.seeds.mutations import Mutation

KIND = "by-hand"


def read(mined: MinedRepository, folder: Path) -> dict[str, bytes]:
    """Give the sources that differ from the release in a folder, which may hold those alone.

    UsageError where there is no folder, where none does, or one is not text.
    """
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}.", "Name a copy of the release.")
    found = {}
    for source in mined.sources:
        path = folder / source.path
        if path.is_file() and not path.is_symlink() and path.read_bytes() != source.data:
            found[source.path] = path.read_bytes()
    try:
        for data in found.values():
            data.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"A file of {folder} is not UTF-8: {error}.", "Correct it.") from error
    if not found:
        name, release = mined.repository.name, mined.mining.release
        raise UsageError(
            f"No source in {folder} differs from {name} {release}.",
            f"Break a file that `sources` in {mined.folder.path}/mining.yaml names.",
        )
    return found


def described(mined: MinedRepository, files: dict[str, bytes]) -> tuple[Mutation, ...]:
    """Tell each function that was changed once."""
    sources = {source.path: source for source in mined.sources}
    places: dict[tuple[str, str], None] = {}
    for edit in edits_of(mined, files):
        source = sources[edit.path]
        start = len("".join(lines_of(source.data)[: edit.line - 1]).encode())
        places[edit.path, source.function_at(start)] = None
    return tuple(Mutation(KIND, path, function, ()) for path, function in places)
