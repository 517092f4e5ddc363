"""The repo file's rules, and that the shipped files keep them."""

from pathlib import Path

import pytest

from sandbox.model import documents
from sandbox.model.artifact import ArtifactKind
from sandbox.model.errors import DocumentError
from sandbox.model.repository import Repository

SHIPPED = sorted((Path(__file__).parents[3] / "task_repos").glob("*/repo.yaml"))
HUMANIZE = Path(__file__).parents[3] / "task_repos" / "humanize" / "repo.yaml"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.parent.name)
def test_shipped_repositories_are_valid(path: Path) -> None:
    repository = documents.load(path, Repository)
    assert repository.name == path.parent.name
    # A suite of Debian's holds one release.
    of_debian = repository.releases[-1].source.kind is ArtifactKind.DEBIAN
    assert of_debian or len(repository.releases) >= 3


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/etc/x", "cannot be a path of a file"),
        ("a//b", "cannot be a path of a file"),
        ("", "cannot be a path of a file"),
        ("../x", "does not lie in the checkout"),
        ("a/.git/config", "does not lie in the checkout"),
    ],
)
def test_a_file_that_is_added_lies_in_the_checkout(path: str, message: str) -> None:
    text = f"{HUMANIZE.read_text()}\nadded:\n  '{path}': text\n"
    with pytest.raises(DocumentError) as caught:
        documents.parse(text, HUMANIZE, Repository)
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("date: 2023-11-21T19:53:28Z", "date: 2023-11-21", "names no time zone"),
        ("date: 2023-11-21T19:53:28Z", "date: yesterday", "is not an ISO 8601 date"),
        ("date: 2023-11-21T19:53:28Z", "date: 2030-01-01T00:00:00Z", "from old to new"),
        ("version: 4.10.0\n    date", "version: 4.9.0\n    date", "same version"),
        ("filename: humanize-4.9.0.tar.gz", "filename: ../x.tar.gz", "filename: "),
        ("filename: humanize-4.9.0.tar.gz", "filename: x.zip", "ends in .tar.gz"),
        ("filename: pluggy-1.7.0-py3-none-any.whl", "filename: pluggy.whl", "a wheel is named"),
        ("name: pluggy", "name: --index-url", "name: "),
        ("sha256: 582a", "sha256: 58", "sha256: "),
        ("      sha256: 582a", "      machine: vax\n      sha256: 582a", "machine: "),
        ("      kind: sdist\n      name: humanize\n      version: 4.9.0", "      kind: wheel", ""),
    ],
)
def test_refused(old: str, new: str, message: str) -> None:
    text = HUMANIZE.read_text()
    assert old in text
    with pytest.raises(DocumentError) as caught:
        documents.parse(text.replace(old, new, 1), HUMANIZE, Repository)
    assert message in caught.value.message
