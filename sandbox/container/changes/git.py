"""A repository's state, read as data: git itself would run what the agent left in it."""

import hashlib
import re
from collections.abc import Iterator

from sandbox.container.changes.git_files import Files, GitProblem, whole
from sandbox.container.changes.git_history import History
from sandbox.container.changes.git_index import parse
from sandbox.container.changes.git_objects import Objects
from sandbox.model import path_text as paths
from sandbox.model.change import GitChange, GitState
from sandbox.model.session import FileKind

SMALL_LIMIT = 4 << 20
"""Bytes of HEAD, one ref, a configuration file, a hook."""

INDEX_LIMIT = 64 << 20
ENTRY_LIMIT = 20_000
"""Refs and control files that are looked at."""

STASH = "refs/stash"

CONTROL = (
    b"config",
    b"config.worktree",
    b"commondir",
    b"gitdir",
    b"shallow",
    b"objects/info/alternates",
    b"objects/info/http-alternates",
    b"MERGE_HEAD",
    b"CHERRY_PICK_HEAD",
    b"REVERT_HEAD",
    b"BISECT_LOG",
)
"""Files that change what git does, and those of an operation that was left half done."""

CONTROL_FOLDERS = (
    b"branches",
    b"hooks",
    b"info",
    b"modules",
    b"rebase-apply",
    b"rebase-merge",
    b"remotes",
    b"sequencer",
    b"worktrees",
)
DERIVED = frozenset((b"info/refs",))
"""Written by git's own housekeeping."""

_NOTHING = "0" * 40
_ID = re.compile(rb"[0-9a-f]{40}")


def read_state(files: Files) -> GitState:
    """Read a repository; GitProblem says why it cannot be."""
    head = whole(files, b".git/HEAD", SMALL_LIMIT)
    if head is None:
        raise GitProblem("there is no .git/HEAD")
    index = whole(files, b".git/index", INDEX_LIMIT)
    refs = _refs(files)
    return GitState(
        head=_value(head).removeprefix("ref: "),
        refs=refs,
        index=() if index is None else parse(index),
        stash=_stash(files, refs),
        files=dict(_control(files)),
        logs={name: (len(data), _digest(data)) for name, data in _logs(files)},
    )


def compare(before: GitState, after: GitState, files: Files) -> GitChange:
    """Add the commits that are reachable in `files` now and were not before."""
    commits = History(Objects(files)).new(_tips(before), _tips(after))
    rewritten = (*_rewritten(before, files), *_untrue(before, after, files))
    return GitChange(before=before, after=after, commits=commits, rewritten_logs=rewritten)


def _logs(files: Files) -> Iterator[tuple[str, bytes]]:
    for path in _walk(files, b".git/logs"):
        data = whole(files, path, SMALL_LIMIT)
        if data is not None:
            yield paths.text(path.removeprefix(b".git/")), data


def _rewritten(before: GitState, files: Files) -> Iterator[str]:
    """Give the reflogs that are not what they were with something added."""
    for name, (size, digest) in before.logs.items():
        data = files.read(paths.raw(".git/" + name), size) if size else b""
        if data is None or _digest(data) != digest:
            yield name


def _untrue(before: GitState, after: GitState, files: Files) -> Iterator[str]:
    """Give the new reflogs that do not lead from what a ref was to what it is."""
    for name, data in _logs(files):
        if name in before.logs or name.endswith(".lock"):
            continue
        ref = name.removeprefix("logs/")
        moves = [line.split(b" ", 2)[:2] for line in data.splitlines()]
        if any(len(move) < 2 for move in moves):
            yield name
            continue
        at = _value_of(before, ref)
        for old, new in moves:
            if old.decode("ascii", "replace") != at:
                yield name
                break
            at = new.decode("ascii", "replace")
        else:
            if moves and at != _value_of(after, ref):
                yield name


def _value_of(state: GitState, ref: str) -> str:
    """Give the commit that a ref names; zeros where there is none, as a reflog has it."""
    value = state.head if ref == "HEAD" else state.refs.get(ref, _NOTHING)
    return value if is_id(value) else state.refs.get(value, _NOTHING)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _tips(state: GitState) -> list[str]:
    """Give what HEAD and all refs name, the stash left out: it is looked at by itself."""
    named = [state.head, *(value for name, value in state.refs.items() if name != STASH)]
    return [value for value in named if is_id(value)]


def is_id(value: str) -> bool:
    """Whether a ref's value is an object's id, and not another ref's name."""
    return _ID.fullmatch(value.encode("ascii", "replace")) is not None


def _refs(files: Files) -> dict[str, str]:
    refs = dict(_packed_refs(files))
    for path in _walk(files, b".git/refs"):
        name = paths.text(path.removeprefix(b".git/"))
        if not name.endswith(".lock"):
            data = whole(files, path, SMALL_LIMIT)
            if data is not None:
                refs[name] = _value(data)
    return dict(sorted(refs.items()))


def _packed_refs(files: Files) -> Iterator[tuple[str, str]]:
    data = whole(files, b".git/packed-refs", SMALL_LIMIT) or b""
    for line in data.splitlines():
        value, _, name = line.partition(b" ")
        if not line.startswith((b"#", b"^")):
            if not name or not _ID.fullmatch(value):
                raise GitProblem(".git/packed-refs is damaged")
            yield paths.text(name), value.decode("ascii")


def _value(data: bytes) -> str:
    """Read what a ref holds: an id, or `ref: ` and another ref's name."""
    value = data.rstrip(b"\n \t\r")
    if _ID.fullmatch(value):
        return value.decode("ascii")
    if value.startswith(b"ref:"):
        return "ref: " + paths.text(value[4:].strip())
    raise GitProblem("a ref holds neither an id nor another ref's name")


def _stash(files: Files, refs: dict[str, str]) -> tuple[str, ...]:
    if STASH not in refs:
        return ()
    log = whole(files, b".git/logs/refs/stash", SMALL_LIMIT) or b""
    commits = [line.split(b" ", 2)[1] for line in log.splitlines() if line.count(b" ") > 1]
    if not all(_ID.fullmatch(commit) for commit in commits):
        raise GitProblem("the stash's log is damaged")
    return tuple(commit.decode("ascii") for commit in reversed(commits)) or (refs[STASH],)


def _control(files: Files) -> Iterator[tuple[str, str]]:
    found = [b".git/" + name for name in CONTROL]
    for folder in CONTROL_FOLDERS:
        found.extend(_walk(files, b".git/" + folder))
    for path in found:
        name = path.removeprefix(b".git/")
        data = None if name in DERIVED else whole(files, path, SMALL_LIMIT)
        if data is not None:
            yield paths.text(name), _digest(data)


def _walk(files: Files, top: bytes) -> Iterator[bytes]:
    """Give all files below a folder; a link below it is met when it is read."""
    pending = [top]
    left = ENTRY_LIMIT
    while pending:
        folder = pending.pop()
        for entry in files.list(folder):
            left -= 1
            if left < 0:
                raise GitProblem(f"{paths.text(top)} holds more than {ENTRY_LIMIT} entries")
            path = folder + b"/" + entry.path
            if entry.kind is FileKind.DIRECTORY:
                pending.append(path)
            else:
                yield path
