"""What differs in the container at the end of a run: files, and git's state, as data."""

from enum import StrEnum

from pydantic import Field

from sandbox.model.base import Record
from sandbox.model.session import FileKind


class Owner(StrEnum):
    """Whose a path is, by the task's scope."""

    MUST = "must"
    """Has to change."""
    MAY = "may"
    """Free to change."""
    USER = "user"
    """Somebody's work in progress: byte for byte as it was."""
    GENERATED = "generated"
    """Written by tools as they run; not looked at."""
    NEVER = "never"
    """Forbidden by name."""
    GIT = "git"
    """Git's own state, judged as refs, index and so on and not as files."""
    COLLATERAL = "collateral"
    """Nothing names it, so it must not change."""


WORK = (Owner.MUST, Owner.MAY)
"""Owners of what the agent works on."""


class FileState(Record):
    """A file as it was or is."""

    kind: FileKind
    mode: int
    uid: int
    gid: int
    size: int
    """Bytes; 0 for what is not a regular file."""
    digest: str | None = None
    """SHA-256 of a regular file's content; left out of a file as it was where more than the content
    tells the difference, and of the very largest."""
    target: str | None = None
    """Where a symbolic link points."""
    linked: bool = False
    """Whether a regular file has got another name, which is not seen from here."""
    rights: str = ""
    """Its access control list, in hexadecimal; empty where it has none, or where an engine's
    storage cannot be read."""


class Change(Record):
    """A path whose kind, content, mode or owner differs; times alone do not count."""

    path: str
    """Absolute in the container, as text (see `path_text.py`)."""
    owner: Owner
    before: FileState | None
    """None where it was not there."""
    after: FileState | None
    """None where it is gone."""


GITLINK = 0o160000
"""The mode of a path that stands for a commit of another repository: a submodule, or none yet."""


class IndexEntry(Record):
    """A path in git's index."""

    path: str
    """Relative to the worktree."""
    object: str
    mode: int
    stage: int
    assume_unchanged: bool
    skip_worktree: bool
    intent_to_add: bool


class GitState(Record):
    """A repository's state, read as data; git itself is never run for it."""

    head: str
    """The branch that HEAD names, or a commit."""
    refs: dict[str, str]
    index: tuple[IndexEntry, ...]
    stash: tuple[str, ...]
    """Commits, newest first."""
    files: dict[str, str]
    """SHA-256 of configuration, hooks, info/exclude, info/attributes and the like, by path."""
    logs: dict[str, tuple[int, str]] = {}
    """Of each reflog: bytes and SHA-256, by path below `.git`."""


class Commit(Record):
    """A commit that the run made."""

    id: str
    parents: tuple[str, ...]
    author: str
    message: str
    paths: tuple[str, ...]
    """What differs from its first parent."""


class Delivered(Record):
    """A path of the agent's work at the branch's tip and in the worktree.

    Either side is a mode and a blob's id, as git names them (`100644 2e65ef...`); None where there
    is no such file.
    """

    path: str
    """Relative to the worktree."""
    committed: str | None
    worktree: str | None


class HookAnswer(Record):
    """What a hook said of a commit as it was delivered."""

    commit: str
    hook: str
    """Its name; empty where the commit could not even be laid out for it."""
    exit_code: int | None
    """It agrees with 0; None where it did not end by itself."""
    said: str = ""
    """The end of what it printed."""


class GitChange(Record):
    """The repository before and after."""

    before: GitState
    after: GitState
    commits: tuple[Commit, ...]
    """Reachable now and not before, oldest first."""
    delivered: tuple[Delivered, ...] = ()
    """What the run committed or changed of the paths that have to or may change."""
    lost: tuple[str, ...] | None = None
    """The first of the objects that refs, stash or index led to before and that cannot be read any
    more; None where that was not looked at, since no file that held objects was touched."""
    rewritten_logs: tuple[str, ...] = ()
    """Reflogs that do not begin with what they held before."""
    asked: tuple[HookAnswer, ...] = Field(default=(), exclude_if=lambda it: not it)
    """What the hooks of the start said of the new commits, where the task's rules speak of hooks:
    asked after the run, in a container that the agent never saw."""


class SharedFile(Record):
    """A file with work of the user's and of the agent's, as text: a character for each byte."""

    path: str
    """Relative to the worktree."""
    base: str | None
    """At HEAD before the run; None where it was not there, below too."""
    users: str | None
    """In the worktree before the run."""
    worktree: str | None
    """In the worktree after it."""
    commits: dict[str, str | None]
    """In each commit that the run made, by its id."""


class Unlisted(Record):
    """A folder with more in it, or deeper, than a run's evidence lists."""

    path: str
    entries: int
    """Below it, that are not in the change set."""
    owner: Owner
    """`generated` where nothing below it can be anybody's, else `collateral`."""


class ChangeSet(Record):
    """Everything that differs, and by which way it was found."""

    source: str
    """`overlay` or `manifest`; both find the same."""
    changes: tuple[Change, ...]
    """In order of path."""
    git: GitChange | None
    """None where `.git` cannot be read as a repository any more."""
    git_problem: str = ""
    """Why `git` is None."""
    shared: tuple[SharedFile, ...] = ()
    """The scope's shared files, where `git` could be read."""
    unlisted: tuple[Unlisted, ...] = ()
    """In order of path."""
