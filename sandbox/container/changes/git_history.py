"""Commits that a run made, and which paths each of them changed."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sandbox.container.changes.git_files import GitProblem
from sandbox.container.changes.git_objects import Objects
from sandbox.model import path_text as paths
from sandbox.model.change import Commit

COMMIT_LIMIT = 50_000
PATH_LIMIT = 20_000
"""Paths that all new commits together may change."""

OBJECTS_LIMIT = 500_000
DEPTH_LIMIT = 1000
FOLDER_LIMIT = 50_000
"""Folders that are looked into because they differ, however often each stands somewhere."""

TREE_MODE = b"40000"
SUBMODULE = b"160000"
"""The mode of an entry that names a commit of another repository."""

_MODE = re.compile(rb"[0-7]{1,6}")

Tree = dict[bytes, tuple[bytes, str]]
"""By name: mode and object."""


@dataclass(frozen=True, slots=True)
class _Header:
    tree: str
    parents: tuple[str, ...]
    author: str
    message: str


class History:
    """The commits of one repository."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._commits: dict[str, _Header] = {}
        self._paths_left = PATH_LIMIT
        self._folders_left = FOLDER_LIMIT

    def new(self, before: Iterable[str], after: Iterable[str]) -> tuple[Commit, ...]:
        """Give the commits reachable from `after` and not from `before`, parents first."""
        tips = sorted(set(after) - set(before))
        if not tips:
            return ()
        known = set(self._reachable(before, frozenset()))
        fresh = set(self._reachable(tips, known))
        return tuple(self._commit(identity) for identity in self._ordered(fresh))

    def file(self, commit: str, path: bytes) -> bytes | None:
        """Give a file's content in a commit; None where there is none."""
        entry = self.entry(commit, path)
        if entry is None:
            return None
        kind, content = self._objects.get(entry[1])
        return content if kind == b"blob" else None

    def tree(self, commit: str) -> str:
        """Give a commit's tree."""
        return self._header(commit).tree

    def entry(self, commit: str, path: bytes) -> tuple[bytes, str] | None:
        """Give a file's mode and blob in a commit; None where there is none."""
        *folders, name = path.split(b"/")
        tree: str | None = self._header(commit).tree
        for folder in folders:
            tree = _folder(self._tree(tree).get(folder))
        entry = self._tree(tree).get(name)
        return None if entry is None or _folder(entry) else entry

    def added(self, commit: Commit) -> Iterator[str]:
        """Give a commit and its trees and blobs, but for what its first parent has in that place.

        An object may come more than once.
        """
        yield commit.id
        parent = self.tree(commit.parents[0]) if commit.parents else None
        pending: list[tuple[str | None, str]] = [(parent, self.tree(commit.id))]
        seen: set[tuple[str | None, str]] = set()
        while pending:
            before, after = pair = pending.pop()
            if before == after or pair in seen:
                continue
            seen.add(pair)
            yield after
            known = self._tree(before)
            for name, entry in self._tree(after).items():
                old = known.get(name)
                if entry == old or entry[0] == SUBMODULE:
                    continue
                if (folder := _folder(entry)) is not None:
                    pending.append((_folder(old), folder))
                else:
                    yield entry[1]

    def behind(self, tips: Iterable[str]) -> Iterator[str]:
        """Give the objects that commits, tags, trees and blobs lead to, each once, read or not."""
        pending = list(tips)
        seen: set[str] = set()
        while pending:
            identity = pending.pop()
            if identity not in seen:
                if len(seen) >= OBJECTS_LIMIT:
                    raise GitProblem(f"there are more than {OBJECTS_LIMIT} objects")
                seen.add(identity)
                yield identity
                pending.extend(self._led_to(identity))

    def _led_to(self, identity: str) -> Iterator[str]:
        """Give what an object names; nothing where it cannot be read."""
        try:
            kind, content = self._objects.get(identity)
            if kind == b"tree":
                entries = self._tree(identity).values()
                yield from (name for mode, name in entries if mode != SUBMODULE)
            elif kind == b"commit":
                header = _parse(content)
                yield from (header.tree, *header.parents)
            elif kind == b"tag":
                yield _name(content.partition(b"\n")[0].removeprefix(b"object "))
        except GitProblem:
            if self._objects.exhausted:
                raise

    def _reachable(self, tips: Iterable[str], known: set[str] | frozenset[str]) -> Iterator[str]:
        pending = [commit for tip in sorted(set(tips)) if (commit := self._peeled(tip))]
        seen: set[str] = set()
        while pending:
            identity = pending.pop()
            if identity in known or identity in seen:
                continue
            seen.add(identity)
            yield identity
            pending.extend(self._header(identity).parents)

    def _peeled(self, identity: str) -> str | None:
        """Follow annotated tags to their commit; None where they name something else."""
        for _ in range(DEPTH_LIMIT):
            kind, content = self._objects.get(identity)
            if kind == b"commit":
                return identity
            if kind != b"tag":
                return None
            identity = _name(content.partition(b"\n")[0].removeprefix(b"object "))
        raise GitProblem("tags are chained without end")

    def _ordered(self, fresh: set[str]) -> Iterator[str]:
        done: set[str] = set()
        for start in sorted(fresh):
            pending = [start]
            while pending:
                identity = pending[-1]
                waiting = [
                    parent
                    for parent in self._header(identity).parents
                    if parent in fresh and parent not in done
                ]
                if identity in done or not waiting:
                    pending.pop()
                    if identity not in done:
                        done.add(identity)
                        yield identity
                else:
                    pending.append(waiting[0])

    def _commit(self, identity: str) -> Commit:
        header = self._header(identity)
        parent = self._header(header.parents[0]).tree if header.parents else None
        found = sorted(self._differing(parent, header.tree))
        return Commit(
            id=identity,
            parents=header.parents,
            author=header.author,
            message=header.message,
            paths=tuple(paths.text(path) for path in found),
        )

    def _header(self, identity: str) -> _Header:
        if identity not in self._commits:
            if len(self._commits) >= COMMIT_LIMIT:
                raise GitProblem(f"there are more than {COMMIT_LIMIT} commits")
            kind, content = self._objects.get(identity)
            if kind != b"commit":
                raise GitProblem(f"object {identity} should be a commit")
            self._commits[identity] = _parse(content)
        return self._commits[identity]

    def _differing(self, old: str | None, new: str | None) -> Iterator[bytes]:
        """Give the files that differ between two trees; None is the empty tree."""
        pending: list[tuple[bytes, str | None, str | None, int]] = [(b"", old, new, 0)]
        while pending:
            prefix, before, after, depth = pending.pop()
            if before == after:
                continue
            self._folders_left -= 1
            if depth > DEPTH_LIMIT or self._folders_left < 0:
                raise GitProblem("trees are nested without end")
            left, right = self._tree(before), self._tree(after)
            for name in {**left, **right}:
                one, other = left.get(name), right.get(name)
                if one == other:
                    continue
                folders = _folder(one), _folder(other)
                if any(folders):
                    pending.append((prefix + name + b"/", *folders, depth + 1))
                if (one and not folders[0]) or (other and not folders[1]):
                    self._paths_left -= 1
                    if self._paths_left < 0:
                        raise GitProblem(f"commits change more than {PATH_LIMIT} paths")
                    yield prefix + name

    def _tree(self, identity: str | None) -> Tree:
        if identity is None:
            return {}
        kind, content = self._objects.get(identity)
        if kind != b"tree":
            raise GitProblem(f"object {identity} should be a tree")
        tree: Tree = {}
        at = 0
        while at < len(content):
            end = content.find(b"\0", at)
            mode, _, name = content[at:end].partition(b" ")
            if end < 0 or len(content) < end + 21 or not _plain(name) or not _MODE.fullmatch(mode):
                raise GitProblem(f"tree {identity} holds an entry that git would not make")
            tree[name] = mode, content[end + 1 : end + 21].hex()
            at = end + 21
        return tree


def _plain(name: bytes) -> bool:
    return b"/" not in name and name.lower() not in (b"", b".", b"..", b".git")


def _folder(entry: tuple[bytes, str] | None) -> str | None:
    return entry[1] if entry is not None and entry[0] == TREE_MODE else None


def _parse(content: bytes) -> _Header:
    head, _, message = content.partition(b"\n\n")
    fields = [line.partition(b" ")[::2] for line in head.split(b"\n")]
    trees = [value for key, value in fields if key == b"tree"]
    if not trees:
        raise GitProblem("a commit names no tree")
    return _Header(
        tree=_name(trees[0]),
        parents=tuple(_name(value) for key, value in fields if key == b"parent"),
        author=_text(next((value for key, value in fields if key == b"author"), b"")),
        message=_text(message),
    )


def _name(value: bytes) -> str:
    if len(value) != 40 or value.strip(b"0123456789abcdef"):
        raise GitProblem("an object refers to another by a malformed id")
    return value.decode("ascii")


def _text(value: bytes) -> str:
    return value.decode("utf-8", "backslashreplace")
