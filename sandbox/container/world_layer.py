"""Laying a world's layer over a session that nobody has used: commits, files, tool servers.

All of it goes in by a few programs, since each start of one costs as much as a file: `tar` for
files with their times, and `git fast-import` for commits (git's own manual has its language).
"""

import io
import shlex
import tarfile
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from sandbox.container.engines.base import NOTHING, Session
from sandbox.container.servers.servers import PLACE, SERVER_USER
from sandbox.model.errors import LayerError
from sandbox.model.layer import LaidCommit, LaidFile, Layer
from sandbox.model.repository import Person
from sandbox.model.session import AGENT, ROOT, Command, User

OLD = datetime.fromisoformat("2025-06-01T00:00:00+00:00")
"""When all files of a layer were last changed, as far as their times say."""
DAY = timedelta(days=1)

_PUBLIC, _PRIVATE, _PROGRAM = 0o644, 0o600, 0o755
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/home/agent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}
_COMMITTING = """
git -c core.compression=0 fast-import --quiet
printf 'update HEAD refs/laying\\ndelete refs/laying\\n' | git update-ref -m {subject} --stdin
git ls-tree -rz HEAD -- {paths} | git update-index -z --index-info
# The builder of an image dates all its files to the beginning of 2000.
find .git -newermt 2000-01-02 -type f -exec touch -d {old} {{}} +
"""
_TAKING = """
[ ! -d {servers} ] || set -- "$@" {servers}
found=$(find "$@" -type f -newermt {before} ! -newermt {after} -o -type d -newermt {after})
printf '%s\\n' "$found" | tar --create --no-recursion --numeric-owner --absolute-names \
    --verbatim-files-from --files-from - --file -
"""
LARGEST = 16 << 20
"""Bytes of an archive of what was laid down."""


def lay(session: Session, layer: Layer, worktree: str, author: Person) -> None:
    """Lay it down, the same bytes and times in each session of an image.

    LayerError where a file or a hook is there that should be new, or a file is not there that
    should be longer.
    Git runs here on a repository that no agent has touched.
    """
    made = _Made(session, worktree)
    commits = [(commit, [made.add(file) for file in commit.files]) for commit in layer.commits]
    for file in layer.files:
        made.add(file)
    _unpack(session, made.new, worktree, options=("--keep-old-files",))
    _unpack(session, made.longer, worktree)
    if commits:
        _commit(session, commits, worktree, author)
    hooks = {f"hooks/{name}": text.encode() for name, text in (layer.hooks or {}).items()}
    _unpack(session, hooks, f"{worktree}/.git", mode=_PROGRAM, options=("--keep-old-files",))
    servers = {
        f"{server.name}/{name}": text.encode()
        for server in layer.servers
        for name, text in server.files.items()
    }
    _unpack(session, servers, PLACE, mode=_PRIVATE, user=SERVER_USER)


def taken(session: Session, worktree: str) -> bytes | None:
    """Archive what `lay` has just written, for other sessions of the image; None where it is large.

    The files are known by their time: those of an image are older, and nothing else was written.
    """
    lines = _TAKING.format(
        servers=PLACE, before=(OLD - DAY).isoformat(), after=(OLD + DAY).isoformat()
    )
    argv = ("/bin/sh", "-euc", lines, "sh", worktree)
    command = Command(argv=argv, cwd="/", environment=_ENVIRONMENT, user=ROOT, stdout_limit=LARGEST)
    ended = session.run(command)
    is_whole = ended.exit_code == 0 and ended.stdout_bytes == len(ended.stdout)
    return ended.stdout if is_whole else None


def lay_again(session: Session, archive: bytes) -> None:
    """Lay down what was taken in another session; LayerError where it does not fit."""
    options = ("--absolute-names", "--numeric-owner", "--same-owner", "--preserve-permissions")
    argv = ("tar", "--extract", *options, "--file", "-")
    _run(session, argv, archive, "/", ROOT)


class _Made:
    """What the worktree's files hold once they have been laid down, one after the other."""

    def __init__(self, session: Session, worktree: str) -> None:
        self._session = session
        self._worktree = worktree
        self.new: dict[str, bytes] = {}
        self.longer: dict[str, bytes] = {}
        """Files of the image, with what comes behind their ends."""
        self._committed: dict[str, bytes] = {}
        """What commits hold of files that the user is editing."""

    def add(self, file: LaidFile) -> tuple[str, bytes]:
        """Lay a file over what there is until now; return its path and what is committed."""
        path, data = file.path, file.text.encode()
        if file.beside_edits:
            committed = self._committed.get(path) or _head(self._session, path, self._worktree)
            self.longer[path] = self._read(path) + data
            data = self._committed[path] = committed + data
        elif path in self.new:
            data = self.new[path] = self.new[path] + data
        elif file.append:
            data = self.longer[path] = self._read(path) + data
        else:
            self.new[path] = data
        return path, data

    def _read(self, path: str) -> bytes:
        if path in self.longer:
            return self.longer[path]
        try:
            return self._session.read(path, beneath=self._worktree, follow=False)
        except OSError as error:
            raise _unfit(f"{path}: {error.strerror}") from error


def _head(session: Session, path: str, worktree: str) -> bytes:
    """Read a file as HEAD holds it, of which nothing is staged."""
    line = 'git diff-index --cached --quiet HEAD -- "$1" && git cat-file blob "HEAD:$1"'
    argv = ("/bin/sh", "-c", line, "sh", path)
    ended = session.run(Command(argv=argv, cwd=worktree, environment=_ENVIRONMENT, user=AGENT))
    if ended.exit_code != 0:
        raise _unfit(f"{path}: edits of it are staged, or it was never committed")
    return ended.stdout


def _unpack(
    session: Session,
    files: Mapping[str, bytes],
    folder: str,
    *,
    mode: int = _PUBLIC,
    user: User = AGENT,
    options: tuple[str, ...] = (),
) -> None:
    if not files:
        return
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, data in files.items():
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode, entry.mtime = len(data), mode, int(OLD.timestamp())
            archive.addfile(entry, io.BytesIO(data))
    argv = ("tar", "--extract", "--no-same-owner", "--file", "-", *options)
    _run(session, argv, packed.getvalue(), folder, user)


def _commit(
    session: Session,
    commits: Iterable[tuple[LaidCommit, list[tuple[str, bytes]]]],
    worktree: str,
    author: Person,
) -> None:
    """Commit files beside whatever the user has staged.

    They go into the real index without the times of their files, which differ in each session.
    """
    stream, paths, parent = io.BytesIO(), dict[str, None](), b"from HEAD^0\n"
    who = {"GIT_COMMITTER_NAME": author.name, "GIT_COMMITTER_EMAIL": author.email}
    for commit, files in commits:
        subject = commit.message.partition("\n")[0]
        stamp = f"{datetime.fromisoformat(commit.date).timestamp():.0f} +0000"
        message = commit.message.rstrip().encode() + b"\n"
        stream.write(b"commit refs/laying\n")
        stream.write(f"committer {author.name} <{author.email}> {stamp}\n".encode())
        stream.write(b"data %d\n%s\n%s" % (len(message), message, parent))
        for path, data in files:
            stream.write(f"M 100644 inline {path}\n".encode())
            stream.write(b"data %d\n%s\n" % (len(data), data))
            paths[path] = None
        parent = b""
    lines = _COMMITTING.format(
        subject=shlex.quote(f"commit: {subject}"), paths=shlex.join(paths), old=OLD.isoformat()
    )
    who["GIT_COMMITTER_DATE"] = stamp
    argv = ("/bin/sh", "-euc", lines)
    _run(session, argv, stream.getvalue(), worktree, AGENT, environment=who)


def _run(
    session: Session,
    argv: tuple[str, ...],
    stdin: bytes,
    folder: str,
    user: User,
    environment: Mapping[str, str] = NOTHING,
) -> None:
    known = {**_ENVIRONMENT, **environment}
    command = Command(argv=argv, cwd=folder, environment=known, user=user, stdin=stdin)
    ended = session.run(command)
    if ended.exit_code != 0:
        said = ended.stderr.decode("utf-8", "replace").strip().splitlines()
        raise _unfit(said[0].removeprefix(f"{argv[0]}: ") if said else f"{argv[0]} failed")


def _unfit(problem: str) -> LayerError:
    return LayerError(f"The world's layer cannot be laid over its image: {problem}.")
