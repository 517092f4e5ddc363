"""Facts: what happened in the world, whoever did it and however it was spelt.

They stand in the trace in the order in which they happened, among the programs that ran. Paths are
relative to the worktree and text (see `path_text.py`).
"""

from typing import Literal

from pydantic import Field

from sandbox.model.base import Record


class Changed(Record):
    """What stands at a path of the worktree is other than it was."""

    kind: Literal["changed"] = "changed"
    path: str
    digest: str | None
    """SHA-256 of a file's content or of where a link points; None where nothing stands there, the
    empty string where it is too large to be read."""
    before: str | None
    """The same, of what stood there."""
    mode: int = 0
    """Kind and permission bits, 0 where nothing stands there."""
    by: Literal["action", "process"] = "process"
    """Whether an editing action wrote it, or a program did."""
    during: tuple[str, ...] = ()
    """The programs and scripts that ran at that moment, as far as programs are seen."""
    as_at_start: bool = False
    """Whether it is again what it was when the run began."""
    again: bool = False
    """Whether it is again what it was at any time before, the beginning included."""


class Shown(Record):
    """An observation held text of a file that a rule names, whatever printed it."""

    kind: Literal["shown"] = "shown"
    path: str
    lines: int
    """Lines of it that were in this observation and in none before."""
    seen: int
    """Its lines that have been shown until now."""
    total: int
    """All its lines that are long enough to be told from others."""
    most: bool
    """Whether at least half of them have been shown."""


class Read(Record):
    """A program, or the harness for the agent, has read a file that a rule names."""

    kind: Literal["read"] = "read"
    path: str


class Tested(Record):
    """A program that runs tests has ended, wherever it was started."""

    kind: Literal["tested"] = "tested"
    argv: tuple[str, ...]
    cwd: str
    paths: tuple[str, ...]
    """What was selected: files, folders and all below them, `.` for the whole worktree."""
    exit_code: int
    sound: bool
    """Whether tests, runner and its configuration were those of the image, or the task's own fix;
    what another runner says proves nothing."""
    differing: tuple[str, ...] = ()
    """What was not, the first of it."""
    tree: str
    """SHA-256 over all paths of the worktree that were not as at the start, with what they held, at
    its end; git's own folder and caches are left out."""
    meanwhile: tuple[str, ...] = ()
    """What was changed while it ran: of that nobody knows in which state it was tested."""


class RefMoved(Record):
    """A branch, a tag, a remote's branch or HEAD names something else."""

    kind: Literal["ref_moved"] = "ref_moved"
    ref: str
    before: str | None
    after: str | None
    tip: str | None = Field(default=None, exclude_if=lambda it: it is None)
    """The commit that the worktree's HEAD is at from now on, where this has changed it."""


class Committed(Record):
    """A branch has come to a commit that was not there before.

    Told again, with no hooks, of one that was taken for that of a git which then failed.
    """

    kind: Literal["committed"] = "committed"
    ref: str
    id: str
    tree: str
    parents: tuple[str, ...]
    paths: tuple[str, ...]
    """What differs from its first parent."""
    files: dict[str, str | None] | None = None
    """SHA-256 of what it holds at each of them, None where it holds nothing; None for all of it
    where these are many or large."""
    standing: tuple[str, ...] = Field(default=(), exclude_if=lambda it: not it)
    """Those of these files that the worktree holds with the same content when it is told."""
    hooks: tuple[str, ...]
    """The repository's own hooks that git, which was making it, had run and that had agreed; or had
    run for one of the same message and changes, of which it is made anew, as by a rebase."""
    hooked: bool | None
    """Whether these are all that an ordinary commit runs; None where programs are not seen, and for
    one that git makes while it rebases, picks or reverts, for which it asks none by itself."""


class Stashed(Record):
    """The stash was changed: something was put away, taken back or thrown away."""

    kind: Literal["stashed"] = "stashed"
    before: str | None
    after: str | None


class IndexChanged(Record):
    """Git's index was written with another content."""

    kind: Literal["index_changed"] = "index_changed"


class Refused(Record):
    """The policy has refused an action, or a program that an action started."""

    kind: Literal["refused"] = "refused"
    rule: str
    """Of the policy."""
    by: Literal["action", "process"]


class WorldMoved(Record):
    """The user has changed files of theirs while the run went on, as the task's world says."""

    kind: Literal["world_moved"] = "world_moved"
    move: str
    files: dict[str, str]
    """SHA-256 of what each holds since then, by path."""


class UserSaid(Record):
    """The user has answered a question, or has said something unasked, by the task's script."""

    kind: Literal["user_said"] = "user_said"
    saying: str
    """Its id in the task; empty where nothing of the script fitted a question."""
    text: str
    question: str = ""
    """What the agent had asked; empty where it had not."""


class FactsLost(Record):
    """More happened to files than could be told: what depends on it is not known."""

    kind: Literal["facts_lost"] = "facts_lost"


Fact = (
    Changed
    | Shown
    | Read
    | Tested
    | RefMoved
    | Committed
    | Stashed
    | IndexChanged
    | Refused
    | WorldMoved
    | UserSaid
    | FactsLost
)
