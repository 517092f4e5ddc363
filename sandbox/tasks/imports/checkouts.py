"""Where the projects of foreign tasks lie on this machine, and their files under a patch."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from sandbox.model import path_text as paths
from sandbox.model.errors import UsageError
from sandbox.model.patch_text import PatchError, parse
from sandbox.model.scratch import Scratch
from sandbox.tasks.repos.git_commands import CommandError, Git

SUFFIXES = ("", ".git", ".bundle")


def find(folder: Path, upstream: str) -> Path:
    """Return the git repository or bundle of `owner/name` below a folder; UsageError."""
    names = list(_names(upstream))
    for name in names:
        for suffix in SUFFIXES:
            place = folder / f"{name}{suffix}"
            if place.exists():
                return place
    raise UsageError(
        f"{folder} holds no git repository of {upstream}.",
        f"Clone it as {folder / names[1]}, or put a bundle there with the suffix .bundle.",
    )


def _names(upstream: str) -> Iterator[str]:
    owner, _, name = upstream.partition("/")
    yield upstream
    yield f"{owner}__{name}"
    yield name


def patched(files: Mapping[str, bytes], patch: str) -> dict[str, bytes | None]:
    """Apply a patch by git; the files that it is about as they are then, None where one is gone.

    UsageError where it cannot be read, does not apply, or is about binary files.
    """
    try:
        read = parse(patch.encode())
    except PatchError as error:
        raise UsageError(f"A patch cannot be read: {error}.", "Leave the instance out.") from error
    names = [name for file in read for name in (file.old, file.new) if name is not None]
    about = list(dict.fromkeys(map(_checked, names)))
    with Scratch("patch") as folder:
        for path in about:
            if path in files:
                place = folder / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(files[path])
        try:
            Git(folder).run("apply", "--whitespace=nowarn", "-", stdin=_ended(patch))
        except CommandError as error:
            raise UsageError(
                f"A patch does not apply to the commit: {error}", "Leave the instance out."
            ) from error
        return {path: _held(folder, path) for path in about}


def _checked(name: bytes) -> str:
    """Give a name of a patch as text; UsageError where it could lead out of the checkout."""
    parts = name.split(b"/")
    leads = any(part in (b"", b".", b"..") or part.lower() == b".git" for part in parts)
    try:
        text = name.decode()
    except UnicodeDecodeError:
        text = ""
    if leads or not text.isprintable() or not text:
        raise UsageError(
            f"A patch is about {paths.text(name)!r}, which is not a plain path in the checkout.",
            "Leave the instance out.",
        )
    return text


def _ended(patch: str) -> bytes:
    return patch.encode() if patch.endswith("\n") else f"{patch}\n".encode()


def _held(folder: Path, path: str) -> bytes | None:
    place = folder / path
    if place.is_symlink() or not place.resolve().is_relative_to(folder.resolve()):
        return None
    return place.read_bytes() if place.is_file() else None
