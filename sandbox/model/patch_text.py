"""A unified diff into what it does to each file. Nothing is guessed: what is unclear is refused.

The one reader of patches: actions, policy, metrics and what is shown to people ask it.

The format is that of `git diff` and `diff -u` (git-diff-apply, "Generating patch text"); text
around the diffs is passed over. Names and lines are bytes.
"""

import re
from dataclasses import dataclass, field

from sandbox.model import path_text as paths
from sandbox.model.patch_hunk import HEADER, Hunk, PatchError, Reader, read_hunk

__all__ = ["FilePatch", "Hunk", "PatchError", "names", "parse"]

REGULAR_MODES = {b"100644": 0o644, b"100664": 0o644, b"100755": 0o755}

_ESCAPE = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_LETTERS = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))
_ABSENT = b"/dev/null"


@dataclass(slots=True)
class FilePatch:
    """What happens to one file."""

    line: int
    """Where it starts in the patch, from 1."""
    old: bytes | None = None
    """None where the file is new."""
    new: bytes | None = None
    """None where the file is deleted."""
    copied: bool = False
    renamed: bool = False
    mode: int | None = None
    """Permissions afterwards, where the patch names them."""
    hunks: list[Hunk] = field(default_factory=list)


def parse(patch: bytes) -> list[FilePatch]:
    """Read a patch; PatchError names the line that is wrong."""
    reader = Reader(patch)
    files: list[FilePatch] = []
    while not reader.at_end:
        _step(reader, files)
    if not files:
        raise PatchError("the patch holds no diff: no `--- a/x` and `+++ b/x` lines are in it")
    return files


def names(patch: str) -> tuple[str, ...]:
    """Return the paths that a patch is about, as text and in order, also of one that is damaged."""
    reader = Reader(patch.encode())
    files: list[FilePatch] = []
    while not reader.at_end:
        start = reader.place
        try:
            _step(reader, files)
        except PatchError:
            # A hunk that counts too many lines has taken in the next file's names.
            reader.place = start + 1
    found = [name for file in files for name in (file.old, file.new) if name is not None]
    return tuple(dict.fromkeys(map(paths.text, found)))


def _step(reader: Reader, files: list[FilePatch]) -> None:
    """Read a file's part of the patch, or pass over a line between such parts."""
    line = reader.header
    if line.startswith(b"diff --git "):
        files.append(FilePatch(reader.place + 1))
        _git_file(reader, files[-1])
    elif line.startswith(b"--- ") and reader.following.startswith(b"+++ "):
        files.append(FilePatch(reader.place + 1))
        _names(reader, files[-1])
        _hunks(reader, files[-1])
    elif HEADER.match(line):
        raise reader.error("a hunk without the names of a file (`--- a/x` and `+++ b/x`)")
    else:
        reader.place += 1


def _git_file(reader: Reader, file: FilePatch) -> None:
    file.old = file.new = _common_name(reader.header.removeprefix(b"diff --git "))
    reader.place += 1
    created = deleted = False
    while not reader.at_end and _is_extended(reader.header):
        line = reader.header
        created = created or line.startswith(b"new file mode ")
        deleted = deleted or line.startswith(b"deleted file mode ")
        _extended(reader, file, line)
        reader.place += 1
    if reader.header.startswith(b"--- ") and reader.following.startswith(b"+++ "):
        _names(reader, file)
        _hunks(reader, file)
    elif file.old is None or file.new is None:
        raise PatchError(f"line {file.line} of the patch: the names cannot be told apart")
    if created:
        file.old = None
    if deleted:
        file.new = None


def _is_extended(line: bytes) -> bool:
    return line.startswith(
        (
            b"old mode ",
            b"new mode ",
            b"deleted file mode ",
            b"new file mode ",
            b"copy ",
            b"rename ",
            b"similarity index ",
            b"dissimilarity index ",
            b"index ",
            b"Binary files ",
            b"GIT binary patch",
        )
    )


def _extended(reader: Reader, file: FilePatch, line: bytes) -> None:
    if line.startswith((b"Binary files ", b"GIT binary patch")):
        raise reader.error("binary files cannot be patched; use write_file with base64")
    for prefix in (b"new mode ", b"new file mode "):
        if line.startswith(prefix):
            mode = line.removeprefix(prefix)
            if mode not in REGULAR_MODES:
                raise reader.error("only regular files can be made")
            file.mode = REGULAR_MODES[mode]
    for kind in (b"rename", b"copy"):
        if line.startswith(kind + b" from "):
            file.old = _unquoted(line.removeprefix(kind + b" from "), reader)
        if line.startswith(kind + b" to "):
            file.new = _unquoted(line.removeprefix(kind + b" to "), reader)
            file.renamed, file.copied = kind == b"rename", kind == b"copy"


def _names(reader: Reader, file: FilePatch) -> None:
    """Read `---` and `+++`."""
    old = _file_name(reader)
    reader.place += 1
    new = _file_name(reader)
    if old == new == _ABSENT:
        raise reader.error("both names are /dev/null")
    old, new = _without_prefixes(old, new)
    if not (file.renamed or file.copied) and old != new and _ABSENT not in (old, new):
        raise reader.error("the two names differ; a rename needs `rename from` and `rename to`")
    reader.place += 1
    file.old = None if old == _ABSENT else old
    file.new = None if new == _ABSENT else new


def _file_name(reader: Reader) -> bytes:
    name = reader.header[4:]
    if name.startswith(b'"'):
        return _unquoted(name, reader)
    name = name.partition(b"\t")[0]
    if not name:
        raise reader.error("a name is missing")
    return name


def _without_prefixes(old: bytes, new: bytes) -> tuple[bytes, bytes]:
    """Take git's `a/` and `b/` off (`b/` and `a/` in a reversed patch) where both sides fit."""
    for first, second in ((b"a/", b"b/"), (b"b/", b"a/")):
        fits = old.startswith((first, _ABSENT)) and new.startswith((second, _ABSENT))
        if fits and old != new:
            return old.removeprefix(first), new.removeprefix(second)
    return old, new


def _common_name(names: bytes) -> bytes | None:
    """Return the one name in `a/x b/x` or `x x`; None where they differ."""
    half, odd = divmod(len(names), 2)
    if not odd or names[half : half + 1] != b" ":
        return None
    old, new = names[:half], names[half + 1 :]
    if old.startswith(b'"'):
        old, new = _plain(old), _plain(new)
    old, new = _without_prefixes(old, new)
    return old if old == new else None


def _unquoted(name: bytes, reader: Reader) -> bytes:
    if not name.startswith(b'"'):
        return name
    end = re.match(rb'"(?:[^"\\]|\\.)*"', name)
    if end is None:
        raise reader.error("a quoted name does not end")
    return _plain(end[0])


def _plain(quoted: bytes) -> bytes:
    def character(found: re.Match[bytes]) -> bytes:
        code = found[1]
        return bytes([_LETTERS[code[0]] if code[0] in _LETTERS else int(code, 8) & 0xFF])

    return _ESCAPE.sub(character, quoted[1:-1])


def _hunks(reader: Reader, file: FilePatch) -> None:
    while found := HEADER.match(reader.header):
        file.hunks.append(read_hunk(reader, found, len(file.hunks) + 1))
    if not file.hunks:
        raise reader.error("no hunk (`@@ -1,2 +1,2 @@`) follows the names")
