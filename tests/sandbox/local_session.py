"""A session that is a folder and the processes of this host: for what needs no container.

It follows `container/engines/base.py` as far as the actions use it. Nothing confines its commands.
"""
# ruff: noqa: ARG002 - signatures are those of the contract

import errno
import hashlib
import os
import signal
import stat
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sandbox.container.engines.fake_notice import FakeNotice
from sandbox.model.session import (
    AGENT,
    ROOT,
    Command,
    Completed,
    DiskUse,
    ExecObserver,
    FileEntry,
    FileKind,
    Greeting,
    Usage,
    User,
    WatchedFiles,
)

_KINDS = {
    stat.S_IFREG: FileKind.FILE,
    stat.S_IFDIR: FileKind.DIRECTORY,
    stat.S_IFLNK: FileKind.SYMLINK,
    stat.S_IFIFO: FileKind.FIFO,
    stat.S_IFSOCK: FileKind.SOCKET,
}


class LocalProcess:
    """A command that was started."""

    def __init__(self, command: Command) -> None:
        self._command = command
        self._started = time.monotonic()
        self._process = subprocess.Popen(
            [os.fsencode(word) for word in command.argv],
            cwd=command.cwd,
            env={**command.environment, "PATH": os.environ["PATH"]},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def kill(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)

    def wait(self) -> Completed:
        command, timed_out = self._command, False
        try:
            stdout, stderr = self._process.communicate(command.stdin, command.timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
            self.kill()
            stdout, stderr = self._process.communicate()
        status = self._process.returncode
        return Completed(
            exit_code=status if status >= 0 else None,
            signal=-status if status < 0 else None,
            stdout=stdout[: command.stdout_limit],
            stderr=stderr[: command.stderr_limit],
            stdout_bytes=len(stdout),
            stderr_bytes=len(stderr),
            duration=time.monotonic() - self._started,
            timed_out=timed_out,
            killed=False,
            survivors=0,
            user_seconds=0,
            system_seconds=0,
            peak_bytes=0,
            out_of_memory=False,
        )


@dataclass
class LocalSession:
    """Files and processes of this host."""

    commands: list[Command] = field(default_factory=list)
    """What was run."""
    failing: dict[bytes, int] = field(default_factory=dict)
    """Paths whose writing fails, with the errno."""
    lost: BaseException | None = None
    """What every command and `stat` raises instead."""

    taken: DiskUse = field(default_factory=lambda: DiskUse(0, 0, None))
    greeting: Greeting = field(default_factory=lambda: Greeting(0, "", "", frozenset()))
    observer: ExecObserver | None = None
    notice: FakeNotice | None = None

    def on_exec(self, observer: ExecObserver | None) -> None:
        """Nothing below a command is seen here."""
        self.observer = observer

    def watch(self, files: WatchedFiles) -> None:
        """What differs is told when it is asked for."""
        self.notice = FakeNotice(
            lambda: self.manifest(files.roots, digest=True), files.roots, files.excluding
        )

    def settle(self) -> None:
        if self.notice is not None and self.observer is not None:
            self.notice.tell(self.observer)

    def manifest(
        self,
        roots: Sequence[str],
        *,
        excluding: Sequence[str] = (),
        digest: bool = False,
        wanted: object = None,
        since: int = 0,
    ) -> dict[bytes, FileEntry]:
        found = [path for root in roots for path in Path(root).rglob("*")]
        return {os.fsencode(path): _hashed(path) for path in found}

    def entry(self, path: bytes, record: FileEntry) -> FileEntry:
        return record

    def run(self, command: Command) -> Completed:
        return self.start(command).wait()

    def start(self, command: Command) -> "LocalProcess":
        self.commands.append(command)
        if self.lost is not None:
            raise self.lost
        return LocalProcess(command)

    def read(
        self,
        path: str | bytes,
        *,
        beneath: str | bytes = "/",
        offset: int = 0,
        limit: int | None = None,
        user: User = ROOT,
        follow: bool = True,
    ) -> bytes:
        if not follow:
            self._plain(path, beneath)
        place = self._place(path, beneath)
        if not place.is_file():
            place.stat()
            raise OSError(errno.EISDIR, "Is a directory")
        with place.open("rb") as file:
            file.seek(offset)
            return file.read() if limit is None else file.read(limit)

    def write(
        self,
        path: str | bytes,
        data: bytes,
        *,
        beneath: str | bytes = "/",
        mode: int | None = None,
        user: User = AGENT,
        parents: bool = False,
        follow: bool = True,
    ) -> None:
        self._fail(path)
        if not follow:
            self._plain(path, beneath)
        place = self._place(path, beneath)
        if parents:
            place.parent.mkdir(parents=True, exist_ok=True)
        new = not place.exists()
        if not new and not place.is_file():
            raise OSError(errno.EINVAL, "Invalid argument")
        place.write_bytes(data)
        if mode is not None or new:
            place.chmod(0o644 if mode is None else mode)

    def remove(
        self,
        path: str | bytes,
        *,
        beneath: str | bytes = "/",
        user: User = AGENT,
        follow: bool = True,
    ) -> None:
        self._fail(path)
        if not follow:
            self._plain(os.path.dirname(os.fsdecode(path)), beneath)  # noqa: PTH120
        place = self._place(path, beneath, follow=False)
        if place.is_dir() and not place.is_symlink():
            place.rmdir()
        else:
            place.unlink()

    def stat(
        self, path: str | bytes, *, beneath: str | bytes = "/", follow: bool = False
    ) -> FileEntry:
        if self.lost is not None:
            raise self.lost
        return _entry(self._place(path, beneath, follow=follow), os.fsencode(path))

    def list(
        self, path: str | bytes, *, beneath: str | bytes = "/", user: User = ROOT
    ) -> list[FileEntry]:
        place = self._place(path, beneath)
        return sorted(
            (_entry(each, os.fsencode(each.name)) for each in place.iterdir()),
            key=lambda entry: entry.path,
        )

    def disk(self, most_files: int) -> DiskUse:
        """What `taken` says."""
        return self.taken

    def hurry(self) -> None:
        """Nothing here is slow."""

    def kill_all(self) -> int:
        if self.lost is not None:
            raise self.lost
        return 0

    def usage(self) -> Usage:
        return Usage(1 << 20, 0.5, 0, 0)

    def _fail(self, path: str | bytes) -> None:
        code = self.failing.get(os.fsencode(path))
        if code is not None:
            raise OSError(code, os.strerror(code))

    def _place(self, path: str | bytes, beneath: str | bytes, *, follow: bool = True) -> Path:
        """The file that is meant; EXDEV where a link or `..` leads out of `beneath`."""
        base = Path(os.fsdecode(beneath)).resolve()
        place = base / os.fsdecode(path)
        real = place.resolve() if follow else place.parent.resolve() / place.name
        if not real.is_relative_to(base):
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return real if follow else place

    def _plain(self, path: str | bytes, beneath: str | bytes) -> None:
        """Refuse a path on which a link lies."""
        place = Path(os.fsdecode(beneath)).resolve() / os.fsdecode(path)
        if place.resolve() != place.absolute():
            raise OSError(errno.ELOOP, "Too many levels of symbolic links")


def _hashed(path: Path) -> FileEntry:
    entry = _entry(path, os.fsencode(path))
    if entry.kind is not FileKind.FILE:
        return entry
    return replace(entry, digest=hashlib.sha256(path.read_bytes()).hexdigest())


def _entry(place: Path, name: bytes) -> FileEntry:
    found = place.lstat()
    kind = _KINDS[stat.S_IFMT(found.st_mode)]
    return FileEntry(
        path=name,
        kind=kind,
        mode=stat.S_IMODE(found.st_mode),
        uid=found.st_uid,
        gid=found.st_gid,
        size=found.st_size,
        mtime_ns=found.st_mtime_ns,
        ctime_ns=found.st_ctime_ns,
        inode=found.st_ino,
        links=found.st_nlink,
        target=os.fsencode(place.readlink()) if kind is FileKind.SYMLINK else b"",
    )
