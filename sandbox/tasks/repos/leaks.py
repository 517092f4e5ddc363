"""What a repository holds beyond what its branch and tags show.

For repositories that this project built; git runs on them, so never use it on one that an agent
touched.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from sandbox.tasks.repos.git_commands import CommandError, Git

STASH = "refs/stash"
_EXPECTED = re.compile(
    r"HEAD|config|index|packed-refs|logs/refs/stash|hooks/[^/]+|refs/(heads|tags)/.+"
    r"|objects/[0-9a-f]{2}/[0-9a-f]{38}|objects/pack/pack-[0-9a-f]{40}\.(pack|idx|rev)"
)
"""All files that a built repository may have below `.git`.

What is not listed may keep content alive or bring it in: reflogs, ORIG_HEAD, FETCH_HEAD, shallow,
alternates, worktrees, modules, rebase and merge states, temporary objects.
"""


def blob_id(data: bytes) -> str:
    """Return the name that git gives to a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def leaks(folder: Path, forbidden: Mapping[str, str]) -> list[str]:
    """Return a sentence for each leak of the repository at `folder`; none if it is tight.

    `forbidden` names by object id what must not be in the store, packed or loose.
    """
    return list(_leaks(Git(folder), forbidden))


def _leaks(git: Git, forbidden: Mapping[str, str]) -> Iterator[str]:
    yield from _unexpected_files(git.directory)
    try:
        stored = _stored(git)
        yield from (
            f"object {name} is {forbidden[name]}" for name in sorted(stored & forbidden.keys())
        )
        shown = set(git.run("rev-list", "--objects", "--no-object-names", "HEAD", "--tags").split())
        # The stash and the index hold the user's work, which is meant to be seen.
        refs = git.run("for-each-ref", "--format=%(refname)").splitlines()
        # A stash that a builder made has its list; another ref of that name is a ref.
        stash = STASH if (git.directory / "logs" / STASH).is_file() else None
        if stash:
            shown |= set(git.run("rev-list", "--objects", "--no-object-names", stash).split())
        shown |= {line.split()[1] for line in git.run("ls-files", "--stage").splitlines()}
        yield from (f"object {name} is shown by nothing" for name in sorted(stored - shown))
        yield from (
            f"{ref} is neither the branch nor a tag"
            for ref in refs
            if ref not in (git.run("symbolic-ref", "HEAD"), stash)
            and not ref.startswith("refs/tags/")
        )
        # It also verifies every object, and that no pack holds more than its index tells.
        said = git.run(
            "fsck", "--full", "--strict", "--unreachable", "--no-reflogs", "--no-progress"
        )
        yield from (f"git fsck: {line}" for line in said.splitlines())
    except CommandError as error:
        yield f"git cannot read it: {error}"


def _unexpected_files(directory: Path) -> Iterator[str]:
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        if path.is_symlink():
            yield f".git/{name} is a link"
        elif not path.is_dir() and not _EXPECTED.fullmatch(name):
            yield f".git/{name} does not belong here"
        elif path.suffix == ".pack" and not path.with_suffix(".idx").is_file():
            yield f".git/{name} has no index, so git does not see what it holds"


def _stored(git: Git) -> set[str]:
    """Return the names of all objects in all packs and all loose files."""
    listed = git.run(
        "cat-file", "--batch-all-objects", "--batch-check=%(objectname)", "--unordered"
    )
    return set(listed.split())
