"""Names in a task file that are compared with the files of the release, where that is there."""

from collections.abc import Iterator, Set
from pathlib import Path

from sandbox.model import places
from sandbox.model.renaming import Renaming
from sandbox.model.repository import Repository
from sandbox.model.task import TaskFile
from sandbox.tasks import misspelt, misspelt_tests
from sandbox.tasks.sources import listings


def problems(file: TaskFile, folder: Path, repository: Repository) -> Iterator[str]:
    """Say which globs and ids of tests are like one that there is, and are not that one."""
    found = [listings.names(places.cache(), each.source) for each in repository.releases]
    if all(found):
        renaming = Renaming(repository.words)
        paths = frozenset(map(renaming.text, frozenset().union(*found)))
        yield from misspelt.unmatched(file, folder, paths)
        yield from misspelt.files_missing(file, folder, paths)
    listed = file.tests.fail_to_pass + file.tests.pass_to_pass
    texts = _texts(file, folder, repository, {test.partition("::")[0] for test in listed})
    wrong = list(misspelt_tests.problems(listed, texts))
    yield from wrong
    if wrong:
        yield f"`sandbox record {file.id}` writes ids anew that stand in a file of their own"


def _texts(
    file: TaskFile, folder: Path, repository: Repository, wanted: Set[str]
) -> dict[str, str]:
    """Give what files hold that tests are listed of: hidden ones, and upstream's as released."""
    source = next(each.source for each in repository.releases if each.version == file.world.release)
    renaming, unchanged = Renaming(repository.words), wanted - misspelt.changed_paths(file, folder)
    listed = listings.names(places.cache(), source)
    named = {path: renaming.text(path) for path in listed if renaming.text(path) in unchanged}
    read = listings.texts(places.cache(), source, named.keys() if listed else unchanged)
    texts = {named.get(path, path): renaming.text(text) for path, text in read.items()}
    for path in wanted if file.tests.hidden else ():
        hidden = folder / str(file.tests.hidden) / path
        if hidden.is_file():
            texts[path] = hidden.read_text("utf-8", "replace")
    return texts
