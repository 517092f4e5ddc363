"""The candidate: what crosses from the agent's container into grading, and nothing else.

Regular files whose owner is must or may, below the worktree, read without following a link. What
a test runner or Python loads by its name alone never crosses (`NEVER_CROSSING`), whatever the
scope says, since the grader's own runner would load it too. Configuration of runners and of git
crosses only where the scope names the very file: the grader's runner does not read it.
"""

import hashlib
import io
import json
import re
import stat
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path, PurePosixPath

import zstandard

from sandbox.container.engines.base import Session
from sandbox.model import path_text as paths
from sandbox.model.change import WORK, Change, ChangeSet, FileState, Owner
from sandbox.model.errors import EvidenceError
from sandbox.model.glob import is_plain
from sandbox.model.session import AGENT, FileKind
from sandbox.model.task import Scope

FILE_LIMIT = 16 << 20
TOTAL_LIMIT = 128 << 20
"""Bytes of one file, and of all."""

NEVER_CROSSING = (
    *("conftest.py", "__pycache__", "*.pyc", "*.pth", "*.egg-link", "*.egg-info", "*.dist-info"),
    *("sitecustomize*", "usercustomize*", "node_modules"),
)
BY_NAME_ONLY = (
    *("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg"),
    *("pyproject.toml", "package.json", ".npmrc", ".mocharc*", ".taprc", ".c8rc*", ".nycrc*"),
    *("jest.config.*", "vite.config.*", "vitest.config.*", "vitest.workspace.*", "ava.config.*"),
    *("karma.conf.*", ".babelrc*", "babel.config.*", ".pnpmfile.*", ".yarnrc*"),
    *("Cargo.toml", ".cargo", "build.rs", "rust-toolchain*", "go.mod", "go.work"),
    *(".git*",),
)


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    """Compile globs over one name: tens of thousands of names are looked at in a run."""
    return re.compile("|".join(map(translate, patterns)))


_NEVER, _BY_NAME = _any_of(NEVER_CROSSING), _any_of(BY_NAME_ONLY)
_DECIDING = _any_of(each for each in NEVER_CROSSING + BY_NAME_ONLY if not each.startswith(".git"))

UNNAMED = "it configures a test runner or git, and the scope does not name this very file"
"""Why configuration stays behind."""

SILENT = (Owner.GENERATED, Owner.GIT)
CACHES = frozenset(("__pycache__", ".pytest_cache"))
"""Never part of anybody's work, so not worth a reason each."""

HEADER = "candidate.json"
FILES = "files/"


@dataclass(frozen=True, slots=True)
class CandidateFile:
    """One file that crosses."""

    content: bytes
    executable: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """Paths are relative to the worktree and text (see `model/path_text.py`)."""

    files: dict[str, CandidateFile]
    deleted: tuple[str, ...]
    """Removed before the files are laid down, deepest first."""
    refused: dict[str, str]
    """Absolute paths that changed and do not cross, and why."""


def take(session: Session, changes: ChangeSet, scope: Scope, worktree: str) -> Candidate:
    """Read the candidate out of the agent's session, whose processes are dead."""
    base = worktree.rstrip("/") + "/"
    named = {
        pattern if pattern.startswith("/") else base + pattern
        for pattern in scope.must + scope.may
        if is_plain(pattern)
    }
    files: dict[str, CandidateFile] = {}
    deleted: list[str] = []
    refused: dict[str, str] = {}
    left = TOTAL_LIMIT
    for change in changes.changes:
        path = change.path.removeprefix(base)
        why = _objection(change, base, named)
        if why is None and _is_file(change.after):
            content = _read(session, path, base, change, left)
            if isinstance(content, bytes):
                left -= len(content)
                executable = change.after is not None and bool(change.after.mode & stat.S_IXUSR)
                files[path] = CandidateFile(content, executable)
            else:
                why = content
        if why is None and _has_to_go(change):
            deleted.append(path)
        if why:
            refused[change.path] = why
    _forget_folders(refused, files, base)
    return Candidate(files, tuple(sorted(deleted, reverse=True)), refused)


def lay(candidate: Candidate, session: Session, worktree: str) -> dict[str, str]:
    """Apply a candidate to a fresh session; give the paths that do not fit there, and why."""
    failed: dict[str, str] = {}
    for path in candidate.deleted:
        try:
            session.remove(paths.raw(path), beneath=worktree, user=AGENT)
        except FileNotFoundError:
            continue
        except OSError as error:
            failed[path] = f"it cannot be removed: {error.strerror}"
    for path, file in candidate.files.items():
        raw = paths.raw(path)
        try:
            _make_room(session, raw, worktree)
            mode = 0o755 if file.executable else 0o644
            session.write(raw, file.content, beneath=worktree, mode=mode, user=AGENT, parents=True)
        except OSError as error:
            failed[path] = f"it cannot be written: {error.strerror}"
    return failed


def pack(candidate: Candidate, path: Path) -> None:
    """Write a candidate as `candidate.tar.zst`: the same bytes for the same candidate."""
    header = {"deleted": list(candidate.deleted), "refused": candidate.refused}
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:
        _add(tar, HEADER, json.dumps(header, sort_keys=True).encode(), executable=False)
        for name, file in sorted(candidate.files.items()):
            _add(tar, FILES + name, file.content, executable=file.executable)
    path.write_bytes(zstandard.ZstdCompressor(level=3).compress(archive.getvalue()))


def unpack(path: Path) -> Candidate:
    """Read a stored candidate; EvidenceError where it is not as `pack` writes it."""
    try:
        with path.open("rb") as file:
            reader = zstandard.ZstdDecompressor().stream_reader(file)
            data = reader.read(2 * TOTAL_LIMIT + 1)
        if len(data) > 2 * TOTAL_LIMIT:
            raise _broken(path, "it is too large")
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            members = dict(_members(tar, path))
        header = json.loads(members.pop(HEADER).content)
        deleted = tuple(_checked(path, name) for name in header["deleted"])
        refused = {str(name): str(why) for name, why in header["refused"].items()}
    except (
        OSError,
        zstandard.ZstdError,
        tarfile.TarError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
    ) as error:
        raise _broken(path, str(error)) from error
    files = {name.removeprefix(FILES): file for name, file in members.items()}
    return Candidate(files, deleted, refused)


def _objection(change: Change, base: str, named: set[str]) -> str | None:
    """Say why a change does not cross; the empty string where that needs no reason."""
    if change.owner in SILENT:
        return ""
    if change.owner not in WORK:
        return "" if _is_folder(change) else f"its owner is {change.owner}"
    if not change.path.startswith(base):
        return "it is not in the worktree"
    relative = PurePosixPath(change.path.removeprefix(base)).parts
    if CACHES.intersection(relative):
        return ""
    if any(map(_NEVER.match, relative)):
        return "a test runner or Python would load it by its name"
    if any(map(_BY_NAME.match, relative)) and change.path not in named:
        return UNNAMED
    if change.after is None or _is_file(change.after):
        return _special_bits(change.after)
    if change.after.kind is FileKind.DIRECTORY:
        return None if _has_to_go(change) else "folders cross only with the files in them"
    return f"it is a {change.after.kind.replace('_', ' ')}, not a regular file"


def decides_by_name(path: str) -> bool:
    """Whether a test runner or Python takes a file at this relative path for configuration."""
    return any(map(_DECIDING.match, path.split("/")))


def _special_bits(after: FileState | None) -> str | None:
    special = after is not None and after.mode & (stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX)
    return "it has a set-id or sticky bit" if special else None


def _is_file(state: FileState | None) -> bool:
    return state is not None and state.kind is FileKind.FILE


def _is_folder(change: Change) -> bool:
    states = (change.before, change.after)
    return all(state is None or state.kind is FileKind.DIRECTORY for state in states)


def _has_to_go(change: Change) -> bool:
    """Whether what the image holds at a path is in the way of what comes, or is deleted."""
    if change.before is None:
        return False
    return change.after is None or change.before.kind is not change.after.kind


def _read(session: Session, path: str, base: str, change: Change, left: int) -> bytes | str:
    """Read a file; a sentence says why not."""
    size = 0 if change.after is None else change.after.size
    if size > FILE_LIMIT:
        return f"it has {size} bytes, more than {FILE_LIMIT}"
    if size > left:
        return f"all files together have more than {TOTAL_LIMIT} bytes"
    try:
        if session.stat(paths.raw(path), beneath=base.rstrip("/")).links > 1:
            return "it is a hard link: another name leads to the same file"
        content = session.read(
            paths.raw(path), beneath=base.rstrip("/"), limit=FILE_LIMIT + 1, follow=False
        )
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    digest = None if change.after is None else change.after.digest
    if digest is not None and hashlib.sha256(content).hexdigest() != digest:
        return "its content is not the one of the change set"
    return content


def _forget_folders(refused: dict[str, str], files: dict[str, CandidateFile], base: str) -> None:
    """Drop the refusals of folders that come with a file in them."""
    for path in files:
        for parent in PurePosixPath(path).parents:
            refused.pop(base + str(parent), None)


def _make_room(session: Session, raw: bytes, worktree: str) -> None:
    """Remove an old file, so that the new one has its own mode."""
    try:
        session.remove(raw, beneath=worktree, user=AGENT)
    except (FileNotFoundError, NotADirectoryError):
        return


def _add(tar: tarfile.TarFile, name: str, content: bytes, *, executable: bool) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    member.mode = 0o755 if executable else 0o644
    tar.addfile(member, io.BytesIO(content))


def _members(tar: tarfile.TarFile, path: Path) -> Iterator[tuple[str, CandidateFile]]:
    seen = set()
    for member in tar:
        if not member.isreg() or member.name in seen or member.mode not in (0o644, 0o755):
            raise _broken(path, f"{member.name!r} is not a plain file or is there twice")
        if member.name != HEADER:
            if not member.name.startswith(FILES):
                raise _broken(path, f"{member.name!r} does not belong there")
            _checked(path, member.name.removeprefix(FILES))
        seen.add(member.name)
        content = tar.extractfile(member)
        data = b"" if content is None else content.read()
        yield member.name, CandidateFile(data, executable=member.mode == 0o755)


def _checked(path: Path, name: str) -> str:
    """Give a relative path back; EvidenceError where it could lead elsewhere."""
    parts = paths.raw(name).split(b"/")
    if b"\0" in paths.raw(name) or any(part in (b"", b".", b"..") for part in parts):
        raise _broken(path, f"{name!r} is not a path below a worktree")
    return name


def _broken(path: Path, why: str) -> EvidenceError:
    return EvidenceError(
        f"{path} is not a whole candidate: {why}. Nothing of it was used.",
        "Run the task again; a stored candidate cannot be mended.",
    )
