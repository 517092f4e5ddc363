"""A file system in memory with the kernel's rules that matter here: links, users, confinement."""

import contextlib
import errno
import hashlib
import json
import os
import tarfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path

from sandbox.model.session import AGENT, ROOT, FileEntry, FileKind, User

LINKS_FOLLOWED = 40
ROOT_PATH = b"/"


@dataclass(slots=True)
class Node:
    """An inode."""

    kind: FileKind
    mode: int
    owner: User
    inode: int
    data: bytes = b""
    """Content of a file, target of a link."""
    children: "dict[bytes, Node]" = field(default_factory=dict)
    mtime_ns: int = field(default_factory=time.time_ns)
    ctime_ns: int = field(default_factory=time.time_ns)

    def allows(self, user: User, right: int) -> bool:
        """Whether `user` has a right: 4 read, 2 write, 1 search or run."""
        if user.uid == ROOT.uid:
            return True
        shift = 6 if user.uid == self.owner.uid else 3 if user.gid == self.owner.gid else 0
        return bool(self.mode >> shift & right)

    def entry(self, path: bytes, *, digest: bool = False) -> FileEntry:
        """What a listing says."""
        content = self.data if self.kind is FileKind.FILE else b""
        return FileEntry(
            path=path,
            kind=self.kind,
            mode=self.mode,
            uid=self.owner.uid,
            gid=self.owner.gid,
            size=len(self.data),
            mtime_ns=self.mtime_ns,
            ctime_ns=self.ctime_ns,
            inode=self.inode,
            links=1,
            target=self.data if self.kind is FileKind.SYMLINK else b"",
            digest=hashlib.sha256(content).hexdigest()
            if digest and self.kind is FileKind.FILE
            else "",
        )


def refused(code: int, path: bytes) -> OSError:
    """The exception that the kernel's `code` becomes."""
    return OSError(code, os.strerror(code), os.fsdecode(path))


class Files:
    """A tree of nodes. Paths are as `Session.read` says."""

    def __init__(self) -> None:
        self._inodes = count(2)
        self.root = self._node(FileKind.DIRECTORY, 0o755, ROOT)
        self.make_directory(b"/tmp", 0o1777)

    def load(self, archive: Path) -> None:
        """Add what a tar archive holds; raises `tarfile.TarError`."""
        with tarfile.open(archive) as tar:
            for member in tar:
                path = b"/" + os.fsencode(member.name).removeprefix(b"./").strip(b"/")
                owner = User(member.uid, member.gid)
                self.make_directory(path if member.isdir() else _above(path), 0o755)
                if member.issym():
                    self.link(path, os.fsencode(member.linkname), owner)
                elif file := tar.extractfile(member):
                    self.write(path, file.read(), user=ROOT)
                node = self.find(path, last=False)
                node.owner, node.mode = owner, member.mode
                node.mtime_ns = int(member.mtime) * 10**9

    def find(
        self,
        path: bytes,
        *,
        beneath: bytes = ROOT_PATH,
        user: User = ROOT,
        follow: bool = True,
        last: bool = True,
    ) -> Node:
        """The node of a path; `last` tells whether a link at its end is followed too."""
        trail = [self._start(path, beneath)]
        names = self._names(path)
        followed = 0
        while names:
            name = names.pop(0)
            if name == b"..":
                if len(trail) == 1 and beneath != ROOT_PATH:
                    raise refused(errno.EXDEV, path)
                trail = trail[:-1] or trail
                continue
            node = self._child(trail[-1], name, path, user)
            if node.kind is FileKind.SYMLINK and (names or last):
                followed += 1
                if not follow or followed > LINKS_FOLLOWED:
                    raise refused(errno.ELOOP, path)
                if node.data.startswith(b"/"):
                    if beneath != ROOT_PATH:
                        raise refused(errno.EXDEV, path)
                    trail = trail[:1]
                names = self._names(node.data) + names
            else:
                trail.append(node)
        return trail[-1]

    def directory(self, path: bytes, beneath: bytes, user: User) -> Node:
        """A directory that `user` may list."""
        node = self.find(path, beneath=beneath, user=user)
        if node.kind is not FileKind.DIRECTORY:
            raise refused(errno.ENOTDIR, path)
        if not node.allows(user, 4):
            raise refused(errno.EACCES, path)
        return node

    def read(
        self,
        path: bytes,
        beneath: bytes = ROOT_PATH,
        offset: int = 0,
        limit: int | None = None,
        *,
        user: User = ROOT,
        follow: bool = True,
    ) -> bytes:
        """Bytes of a regular file."""
        node = self.find(path, beneath=beneath, user=user, follow=follow)
        if node.kind is not FileKind.FILE:
            raise refused(errno.EISDIR, path)
        if not node.allows(user, 4):
            raise refused(errno.EACCES, path)
        return node.data[offset : None if limit is None else offset + limit]

    def write(
        self,
        path: bytes,
        data: bytes,
        *,
        beneath: bytes = ROOT_PATH,
        mode: int | None = None,
        user: User = AGENT,
        parents: bool = False,
        follow: bool = True,
    ) -> None:
        """Write a whole regular file."""
        if not follow:
            self._refuse_links(path, beneath, user)
        if parents:
            self.make_directory(_above(path), 0o755, user, beneath=beneath)
        try:
            node = self.find(path, beneath=beneath, user=user)
        except FileNotFoundError:
            folder, name = self._parent(path, beneath, user)
            node = folder.children[name] = self._node(FileKind.FILE, mode or 0o644, user)
        if node.kind is not FileKind.FILE:
            raise refused(errno.EISDIR, path)
        if not node.allows(user, 2):
            raise refused(errno.EACCES, path)
        node.data, node.mode = data, node.mode if mode is None else mode
        node.mtime_ns = node.ctime_ns = time.time_ns()

    def remove(
        self,
        path: bytes,
        *,
        beneath: bytes = ROOT_PATH,
        user: User = AGENT,
        follow: bool = True,
    ) -> None:
        """Remove a file, a link or an empty directory."""
        if not follow:
            self._refuse_links(_above(path), beneath, user)
        folder, name = self._parent(path, beneath, user)
        if name not in folder.children:
            raise refused(errno.ENOENT, path)
        if folder.children[name].children:
            raise refused(errno.ENOTEMPTY, path)
        del folder.children[name]

    def _refuse_links(self, path: bytes, beneath: bytes, user: User) -> None:
        """Refuse a path on which a link lies; what does not exist is none."""
        with contextlib.suppress(FileNotFoundError):
            self.find(path, beneath=beneath, user=user, follow=False)

    def link(self, path: bytes, target: bytes, user: User = ROOT) -> None:
        """Make a symbolic link."""
        folder, name = self._parent(path, ROOT_PATH, user)
        folder.children[name] = self._node(FileKind.SYMLINK, 0o777, user, target)

    def make_directory(
        self, path: bytes, mode: int, user: User = ROOT, *, beneath: bytes = ROOT_PATH
    ) -> None:
        """Make a directory and those above it that are missing."""
        names = self._names(path)
        for depth in range(1, len(names) + 1):
            part = (b"/" if path.startswith(b"/") else b"") + b"/".join(names[:depth])
            try:
                self.find(part, beneath=beneath, user=user)
            except FileNotFoundError:
                folder, name = self._parent(part, beneath, user)
                folder.children[name] = self._node(FileKind.DIRECTORY, mode, user)

    def walk(self, path: bytes) -> Iterator[tuple[bytes, Node]]:
        """A path and everything below it; nothing where there is none."""
        try:
            node = self.find(path, last=False)
        except (FileNotFoundError, NotADirectoryError):
            return
        yield path, node
        for name in sorted(node.children):
            yield from self.walk(path.rstrip(b"/") + b"/" + name)

    def _node(self, kind: FileKind, mode: int, owner: User, data: bytes = b"") -> Node:
        return Node(kind, mode, owner, next(self._inodes), data)

    def _start(self, path: bytes, beneath: bytes) -> Node:
        if path.startswith(b"/") and beneath != ROOT_PATH:
            raise refused(errno.EXDEV, path)
        return self.root if beneath == ROOT_PATH else self.find(beneath)

    @staticmethod
    def _names(path: bytes) -> list[bytes]:
        return [name for name in path.split(b"/") if name not in (b"", b".")]

    @staticmethod
    def _child(folder: Node, name: bytes, path: bytes, user: User) -> Node:
        if folder.kind is not FileKind.DIRECTORY:
            raise refused(errno.ENOTDIR, path)
        if not folder.allows(user, 1):
            raise refused(errno.EACCES, path)
        if name not in folder.children:
            raise refused(errno.ENOENT, path)
        return folder.children[name]

    def _parent(self, path: bytes, beneath: bytes, user: User) -> tuple[Node, bytes]:
        """The directory that holds a path, which `user` may change, and the name in it."""
        head, name = os.path.split(path.rstrip(b"/"))
        folder = self.find(head, beneath=beneath, user=user)
        if folder.kind is not FileKind.DIRECTORY:
            raise refused(errno.ENOTDIR, path)
        if not folder.allows(user, 2):
            raise refused(errno.EACCES, path)
        return folder, name


def _above(path: bytes) -> bytes:
    """The folder that a path is in; empty for a bare name."""
    return path.rpartition(b"/")[0]


def packed(entry: FileEntry) -> bytes:
    """A manifest's record."""
    fields = asdict(entry)
    del fields["path"]
    return json.dumps(fields | {"target": os.fsdecode(entry.target)}).encode()


def unpacked(path: bytes, record: bytes) -> FileEntry:
    """What a manifest's record says."""
    fields = json.loads(record)
    fields |= {"kind": FileKind(fields["kind"]), "target": os.fsencode(fields["target"])}
    return FileEntry(path=path, **fields)
